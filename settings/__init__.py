"""What a stack file may say: models, rules and errors. Imports no Pulumi."""
