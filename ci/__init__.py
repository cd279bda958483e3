"""Judge a pull request by the protected branch: all that runs is the base's, only tenants' stack files are taken.

Work on git's objects and plain data; the engine is a child process. No Pulumi import. In the order of a preview:

    git            commits as data: no checkout, no diff, nothing of a commit takes effect
    pull_request   what HEAD changes: taken, refused, or an admin's
    workplace      a clean tree of BASE in a private folder; `tree` writes it and lays the one file over it
    check          BASE's rules on that file, and its encryption lines
    child          the variables that a child is given
    run, engine    one stack's preview or up, with BASE's pack and config
    preview        all of it: `make ci-preview`

and beside it `touched`, which is `make changed-stacks`.
"""
