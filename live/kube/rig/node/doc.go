// Package node adds real nodes to a cluster of package rig: kubelets of version 1.36.3, each with its containerd
// and fake GPUs of a device plugin. Containers are processes of this machine, with their own addresses and DNS.
//
// # Isolation
//
// A test binary whose TestMain calls Main runs in its own network, mount and process namespaces. When their first
// process ends, the kernel ends all others, even if the tests were killed. Writes below /etc, /run and /var/log
// stay in the namespace. Main removes the containers' control groups (oxgang-rig-*), also of killed runs. If a
// machine cannot do this, Unable returns the reason, and Start skips the test.
//
// # Network
//
// Nodes and pods share a bridge, 10.244.0.0/16. Gateway is the machine's address on it. There is no kube-proxy, so
// only headless services work. The exception is kubernetes.default, 10.96.0.1:443, which is forwarded to the API
// server.
//
// # Images
//
// There is no registry, and there are two images: Busybox, and Host, which runs the machine's own programs, such
// as Python, with the volumes of HostVolumes.
package node
