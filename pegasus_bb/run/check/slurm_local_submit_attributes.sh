#!/bin/bash
# blahp reads this before it submits; what it prints becomes part of the Slurm script.
# The names are those that pegasus-plan writes into +remote_cerequirements.
unquoted() { local text="${1%\"}"; printf '%s' "${text#\"}"; }

[ -n "$JOBNAME" ] && echo "#SBATCH --job-name $(unquoted "$JOBNAME")"
[ -n "$PROJECT" ] && echo "#SBATCH --account $(unquoted "$PROJECT")"
[ -n "$WALLTIME" ] && echo "#SBATCH --time $(unquoted "$WALLTIME")"
[ -n "$CORES" ] && echo "#SBATCH --ntasks $(unquoted "$CORES")"
[ -n "$NODES" ] && echo "#SBATCH --nodes $(unquoted "$NODES")"
[ -n "$GPUS" ] && echo "#SBATCH --gpus $(unquoted "$GPUS")"
[ -n "$PER_PROCESS_MEMORY" ] && echo "#SBATCH --mem-per-cpu $(unquoted "$PER_PROCESS_MEMORY")"
[ -n "$TOTAL_MEMORY" ] && echo "#SBATCH --mem $(unquoted "$TOTAL_MEMORY")"
[ -n "$EXTRA_ARGUMENTS" ] && echo "#SBATCH $(unquoted "$EXTRA_ARGUMENTS")"
true
