"""The commands of ``ascend-col2im``: one file per command, one per job of a large command."""
