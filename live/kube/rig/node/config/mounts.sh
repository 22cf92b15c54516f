# The view that a node's programs have of the machine: an empty /var/lib, the node's own
# directory where every kubelet's is, and the kernel's settings as a kubelet wants them, so
# that it does not change those of the machine. Then it waits to be killed.
set -e
dir=$1
mount -t tmpfs tmpfs /var/lib
mkdir /var/lib/kubelet
mount --bind "$dir/kubelet" /var/lib/kubelet
i=0
for setting in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \
	kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
	i=$((i + 1))
	echo "${setting#*=}" > "$dir/setting-$i"
	mount --bind "$dir/setting-$i" "/proc/sys/${setting%=*}"
done
mount --make-rshared /
touch "$dir/mounted"
exec sleep infinity
