# Kueue reads the certificate of its metrics at a fixed path below /etc: it gets a copy of
# /etc of its own, in memory, that holds one.
set -e
certs=$1 scratch=$2
shift 2
mkdir -p "$scratch"
mount -t tmpfs tmpfs "$scratch"
mkdir -p "$scratch/work" "$scratch/upper/kueue/metrics/certs"
cp "$certs/tls.crt" "$certs/tls.key" "$scratch/upper/kueue/metrics/certs"
mount -t overlay overlay -o "lowerdir=/etc,upperdir=$scratch/upper,workdir=$scratch/work" /etc
exec "$@"
