"""Components, on Pulumi's mocks."""
