// Package node adds real nodes to a cluster of package rig: kubelets of version 1.36.3, each
// with a containerd, GPUs that a device plugin makes up, and containers that are processes of
// this machine, with addresses of their own and names that resolve.
//
// # One machine, no traces
//
// A test binary whose TestMain calls Main runs in network, mount and process namespaces of its
// own. With the first process in them the kernel ends all others, and what they had mounted,
// routed and listened to is gone, whether the tests ended or were killed. What they write below
// /etc, /run and /var/log only they see. The control groups of containers are directories
// below each hierarchy, oxgang-rig-*: Main removes its own, and those that a killed run left.
// The kernel's settings, which a kubelet would change for the whole machine, are hidden from it.
//
// Where a machine cannot do this, Unable says why, and Start skips the test with it.
//
// # The network
//
// Nodes and pods share one bridge, 10.244.0.0/16. Its own address, Gateway, is that of the
// machine: what a test listens on there is reached from all pods, and the DNS server is at it.
// There is no kube-proxy: of services, only headless ones have what lies behind them. The one
// exception is kubernetes.default, 10.96.0.1:443, which is passed on to the API server, so that
// clients in pods find it as anywhere.
//
// # Images
//
// No registry is asked. There are two: Busybox, and Host, which holds but links into /usr and
// runs the machine's own programs, such as Python, with the volumes that HostVolumes returns.
package node
