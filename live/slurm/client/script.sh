#!/bin/bash
# Runs one start of an elastic job: one worker for each GPU from Slurm. It ignores the environment of the
# submission, which has the size of the first start.
set -u
generation=$((${SLURM_RESTART_COUNT:-0} + 1))
# A Slurm that lost its state reuses job numbers, so the folder also needs a key.
key=KEY
state=$SLURM_SUBMIT_DIR/.oxgang/$SLURM_JOB_ID${key:+-$key}
notice=$state/notice-$generation
mkdir -p "$state/checkpoints" || exit 1
# Another owner of these folders could plant checkpoints.
for folder in "$SLURM_SUBMIT_DIR/.oxgang" "$state" "$state/checkpoints"; do
  if [ "$(stat -c %u "$folder")" != "$EUID" ]; then
    echo "oxgang: $folder does not belong to $(id -un): submit from another directory" >&2
    exit 1
  fi
done

# The notice: the program saves a checkpoint and ends with status 75.
signalled=
trap 'signalled=1; printf "{\"deadline\": %d, \"reason\": \"the job is preempted, or moves to other GPUs\"}" \
  "$(($(date +%s) + GRACE))" >"$notice.new" && mv "$notice.new" "$notice"' USR1

gpus=$(awk -F, '{print NF}' <<<"${CUDA_VISIBLE_DEVICES:?no GPUs}")
nodes=$SLURM_JOB_NUM_NODES
export OXGANG_JOB=$SLURM_JOB_ID OXGANG_GENERATION=$generation OXGANG_CHECKPOINTS=$state/checkpoints OXGANG_NOTICE=$notice
export MASTER_ADDR MASTER_PORT=$((20000 + (SLURM_JOB_ID * 7 + generation) % 10000)) WORLD_SIZE=$((nodes * gpus)) LOCAL_WORLD_SIZE=$gpus
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
[ -z "${OXGANG_MASTER_ADDR:-}" ] || MASTER_ADDR=$OXGANG_MASTER_ADDR
# The scheduler's mark on the job, which only operators can write, names the folder with the agent API. A job that
# Slurm started before the scheduler saw it gets the mark later.
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
# srun starts nothing if slurmctld does not answer. It is retried for ten minutes.
for _ in {1..120}; do
  srun --nodes="$nodes" --ntasks="$WORLD_SIZE" --ntasks-per-node="$gpus" --overcommit --kill-on-bad-exit=0 --wait=60 \
    bash -c ': >"$0"; RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID exec "$@"' "$began" COMMAND &
  step=$!
  while :; do
    wait "$step"
    status=$?
    [ -n "$signalled" ] && [ "$status" -gt 128 ] || break # the signal ended wait, not the step
    signalled=
  done
  [ ! -e "$began" ] && [ ! -e "$notice" ] || break
  sleep 5
done
# A start that got its notice before it began has nothing to save.
[ -e "$began" ] || [ ! -e "$notice" ] || status=75
rm -f "$notice" "$notice.new"
[ -z "$finder" ] || kill "$finder" 2>/dev/null
if [ "$status" -eq 75 ]; then
  # Stopped on notice: hold the job until the scheduler starts it again. Slurm ends this script.
  for _ in {1..120}; do
    scontrol requeuehold "$SLURM_JOB_ID" && exec sleep infinity
    sleep 5
  done
fi
exit "$status"
