#!/bin/bash
# Runs one start of an elastic job: a worker for each GPU that Slurm gave it. Nothing here comes from
# the environment of the submission, which has the size of the first start.
set -u
generation=$((${SLURM_RESTART_COUNT:-0} + 1))
# A Slurm that lost its state numbers jobs anew, so that the number alone does not name the folder.
key=KEY
state=$SLURM_SUBMIT_DIR/.oxgang/$SLURM_JOB_ID${key:+-$key}
notice=$state/notice-$generation
mkdir -p "$state/checkpoints" || exit 1
# Who owns one of these folders, or a link in its place, could give the program checkpoints.
for folder in "$SLURM_SUBMIT_DIR/.oxgang" "$state" "$state/checkpoints"; do
  if [ "$(stat -c %u "$folder")" != "$EUID" ]; then
    echo "oxgang: $folder is not of $(id -un), who runs this: submit from another directory" >&2
    exit 1
  fi
done

# The notice: the program saves a checkpoint and ends with status 75.
signalled=
trap 'signalled=1; printf "{\"deadline\": %d, \"reason\": \"its GPUs are given to others, or it is to have other ones\"}" \
  "$(($(date +%s) + GRACE))" >"$notice.new" && mv "$notice.new" "$notice"' USR1

gpus=$(awk -F, '{print NF}' <<<"${CUDA_VISIBLE_DEVICES:?no GPUs}")
nodes=$SLURM_JOB_NUM_NODES
export OXGANG_JOB=$SLURM_JOB_ID OXGANG_GENERATION=$generation OXGANG_CHECKPOINTS=$state/checkpoints OXGANG_NOTICE=$notice
export MASTER_ADDR MASTER_PORT=$((20000 + (SLURM_JOB_ID * 7 + generation) % 10000)) WORLD_SIZE=$((nodes * gpus)) LOCAL_WORLD_SIZE=$gpus
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
[ -z "${OXGANG_MASTER_ADDR:-}" ] || MASTER_ADDR=$OXGANG_MASTER_ADDR
# The scheduler's mark on the job says in which folder its agent API is written down. Nobody but an operator can
# write it. A job that Slurm has started before the scheduler saw it gets the mark later.
token=TOKEN
finder=
if [ -n "$token" ]; then
  export OXGANG_TOKEN=$token OXGANG_URL_FILE=$state/agents/url OXGANG_CA_FILE=$state/agents/ca.crt
  for pause in 0 2 4 8 16 32 64; do
    sleep "$pause"
    folder=$(scontrol show job -o "$SLURM_JOB_ID" | sed -n 's|.* AdminComment=oxgang:\([^ ]*;\)\{0,1\}agents=\(/[^ ;]*\).*|\2|p')
    [ -z "$folder" ] || { ln -sfn "$folder" "$state/agents" && break; }
  done &
  finder=$!
fi
unset SLURM_NTASKS SLURM_NPROCS SLURM_NTASKS_PER_NODE SLURM_TRES_PER_TASK SLURM_GPUS SLURM_GPUS_PER_NODE
began=$state/began-$generation
# Where slurmctld does not answer, srun starts nothing, and is tried again for ten minutes.
for _ in {1..120}; do
  srun --nodes="$nodes" --ntasks="$WORLD_SIZE" --ntasks-per-node="$gpus" --overcommit --kill-on-bad-exit=0 --wait=60 \
    bash -c ': >"$0"; RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID exec "$@"' "$began" COMMAND &
  step=$!
  while :; do
    wait "$step"
    status=$?
    [ -n "$signalled" ] && [ "$status" -gt 128 ] || break # a signal ended the wait, and not the step
    signalled=
  done
  [ ! -e "$began" ] && [ ! -e "$notice" ] || break
  sleep 5
done
# A start that was told to stop before it began has nothing to save.
[ -e "$began" ] || [ ! -e "$notice" ] || status=75
rm -f "$notice" "$notice.new"
[ -z "$finder" ] || kill "$finder" 2>/dev/null
if [ "$status" -eq 75 ]; then
  # Stopped on notice: the job waits, held, until the scheduler starts it again. Slurm ends this script.
  for _ in {1..120}; do
    scontrol requeuehold "$SLURM_JOB_ID" && exec sleep infinity
    sleep 5
  done
fi
exit "$status"
