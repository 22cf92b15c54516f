package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"golang.org/x/sys/unix"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// A Cluster is a running Kubernetes control plane, and the programs that run with it.
type Cluster struct {
	Config       *rest.Config // as an administrator
	Kubeconfig   string       // file with the same
	EtcdEndpoint string       // http://127.0.0.1:port
	Bin          string
	Dir          string // removed with the cluster
	Logs         string // outputs, as name.log
	Authority    *Authority

	options   Options
	lock      *os.File // held while Dir is in use
	mu        sync.Mutex
	processes []*Process // by start
}

// startTimeout bounds the start of a cluster: 4 s idle, 10 s under load.
const startTimeout = 2 * time.Minute

const attempts = 3

// Start starts a cluster for a test and closes it when the test ends. If the test fails, it prints the last lines of
// the logs.
func Start(t testing.TB, o Options) *Cluster {
	t.Helper()
	c, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			sameLog := func(a, b *Process) bool { return a.Log == b.Log } // restarted
			for _, p := range slices.CompactFunc(c.all(), sameLog) {
				t.Logf("%s:\n%s", p.Name, p.Tail())
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// New starts a cluster, which the caller must close. If this process is killed, the cluster's programs die too, and the
// next New removes its directory.
func New(ctx context.Context, o Options) (*Cluster, error) {
	o.everywhere()
	if err := o.validate(); err != nil {
		return nil, err
	}
	FollowGo()
	if err := o.build(ctx); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var err error
	for range attempts {
		var c *Cluster
		if c, err = start(ctx, o); err == nil {
			return c, nil
		}
		if !strings.Contains(err.Error(), "address already in use") {
			break
		}
	}
	return nil, fmt.Errorf("start a cluster: %w", err)
}

func start(ctx context.Context, o Options) (*Cluster, error) {
	c := &Cluster{Bin: o.Bin, options: o}
	for _, step := range []func(context.Context) error{
		c.makeDir, c.certify, c.startEtcd, c.startAPIServer, c.startRest, c.addNodes,
	} {
		if err := step(ctx); err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}
	return c, nil
}

func (c *Cluster) makeDir(context.Context) error {
	sweep()
	dir, err := os.MkdirTemp("", prefix)
	if err != nil {
		return err
	}
	c.Dir, c.Logs = dir, c.options.Logs
	if c.Logs == "" {
		c.Logs = filepath.Join(dir, "log")
	}
	for _, d := range []string{c.Logs, c.pki(), filepath.Join(dir, "stages")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return err
		}
	}
	if c.lock, err = os.Create(filepath.Join(dir, "lock")); err != nil {
		return err
	}
	return unix.Flock(int(c.lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}

const prefix = "oxgang-rig-"

func sweep() {
	locks, err := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*", "lock"))
	if err != nil {
		panic(err) // bad pattern
	}
	for _, name := range locks {
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil && !fresh(f) {
			_ = os.RemoveAll(filepath.Dir(name)) // another process may remove it too
		}
		_ = f.Close()
	}
}

// fresh reports whether f is so new that its maker may be about to lock it.
func fresh(f *os.File) bool {
	info, err := f.Stat()
	return err != nil || time.Since(info.ModTime()) < time.Minute
}

func (c *Cluster) pki() string { return filepath.Join(c.Dir, "pki") }

func (c *Cluster) all() []*Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.processes)
}

// Process returns a program by name.
func (c *Cluster) Process(name string) *Process {
	for _, p := range slices.Backward(c.all()) {
		if p.Name == name {
			return p
		}
	}
	panic(fmt.Sprintf("rig: no program %q in this cluster", name))
}

// Client returns a client with all rights.
func (c *Cluster) Client() *kubernetes.Clientset { return kubernetes.NewForConfigOrDie(c.Config) }

// Etcd returns a client of the cluster's etcd, which is closed with the test.
func (c *Cluster) Etcd(t testing.TB) *clientv3.Client {
	t.Helper()
	etcd, err := clientv3.New(clientv3.Config{Endpoints: []string{c.EtcdEndpoint}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = etcd.Close() })
	return etcd
}

// Close kills the cluster's programs, the last first, and removes its directory.
func (c *Cluster) Close() error {
	var all []error
	for _, p := range slices.Backward(c.all()) {
		all = append(all, p.Kill())
	}
	if c.Dir != "" {
		all = append(all, os.RemoveAll(c.Dir))
	}
	if c.lock != nil {
		all = append(all, c.lock.Close())
	}
	return errors.Join(all...)
}
