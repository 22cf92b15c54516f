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

// A Cluster is a running control plane, with what runs beside it.
type Cluster struct {
	Config       *rest.Config // as an administrator: may do everything
	Kubeconfig   string       // a file of the same
	EtcdEndpoint string       // http://127.0.0.1:port
	Bin          string       // the directory of the programs
	Dir          string       // removed with the cluster
	Logs         string       // the output of its programs, name.log
	Authority    *Authority

	options   Options
	lock      *os.File // held while Dir is in use
	mu        sync.Mutex
	processes []*Process // in the order of their start
}

// startTimeout bounds how long a cluster takes to start: 4 s idle, 10 s under load.
const startTimeout = 2 * time.Minute

// attempts is how often New tries again when another program took a port that was free.
const attempts = 3

// Start starts a cluster for a test, and ends it with it. The test fails if it does not
// start; the ends of its logs are shown if the test fails.
func Start(t testing.TB, o Options) *Cluster {
	t.Helper()
	c, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			sameLog := func(a, b *Process) bool { return a.Log == b.Log } // one that was started again
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

// New starts a cluster. It must be closed; if it is not, because this process was killed,
// its programs die all the same, and the next New removes its directory.
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

// start starts a cluster, or leaves nothing behind.
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

// makeDir makes the cluster's directory, and removes those whose clusters were killed.
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

// prefix begins the name of every cluster's directory.
const prefix = "oxgang-rig-"

// sweep removes the directories of clusters that are no more: nobody holds their lock.
func sweep() {
	locks, err := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*", "lock"))
	if err != nil {
		panic(err) // the pattern is bad
	}
	for _, name := range locks {
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil && !fresh(f) {
			_ = os.RemoveAll(filepath.Dir(name)) // another may be at it
		}
		_ = f.Close() // nothing was written
	}
}

// fresh reports whether f was made a moment ago: its maker may be about to lock it.
func fresh(f *os.File) bool {
	info, err := f.Stat()
	return err != nil || time.Since(info.ModTime()) < time.Minute
}

// pki returns the directory of the certificates.
func (c *Cluster) pki() string { return filepath.Join(c.Dir, "pki") }

// all returns the programs, in the order of their start.
func (c *Cluster) all() []*Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.processes)
}

// Process returns a program of the cluster by its name. It panics if there is none.
func (c *Cluster) Process(name string) *Process {
	for _, p := range slices.Backward(c.all()) {
		if p.Name == name {
			return p
		}
	}
	panic(fmt.Sprintf("rig: no program %q in this cluster", name))
}

// Client returns a client that may do everything.
func (c *Cluster) Client() *kubernetes.Clientset { return kubernetes.NewForConfigOrDie(c.Config) }

// Etcd returns a client of the cluster's etcd, past the API server; it is closed with the test.
func (c *Cluster) Etcd(t testing.TB) *clientv3.Client {
	t.Helper()
	etcd, err := clientv3.New(clientv3.Config{Endpoints: []string{c.EtcdEndpoint}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = etcd.Close() }) // nothing of it is under way
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
