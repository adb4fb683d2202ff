"""Build, deploy and remove the operator package, and make simulated installations.

A job is planned first: a `steps.Plan` is a list of commands that can be printed, tested and run.
`cann` finds the toolkit, `sources` the operator's sources; `building`, `deploying` and
`simulation` make plans, `runner` carries them out. Nothing here loads a library of CANN.
"""
