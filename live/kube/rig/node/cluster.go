package node

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/oxgang/oxgang/live/kube/rig"
)

// Options configure a cluster with real nodes.
type Options struct {
	Nodes int // at most 9; 0: 2
	GPUs  int // fake GPUs per node; 0: 8

	// Rig configures the rest of the cluster. Its NodeLease defaults to 8 s. Start sets Bin.
	Rig rig.Options
}

// A Cluster is a cluster of package rig that has real nodes.
type Cluster struct {
	*rig.Cluster
	Nodes []*Node

	debian  string
	images  map[string]string
	forward *forwarder
}

const startTimeout = 2 * time.Minute

// Start starts a cluster for a test and closes it when the test ends. It skips the test with -short, or if the machine
// cannot run real nodes. TestMain must call Main.
func Start(t testing.TB, o Options) *Cluster {
	t.Helper()
	if testing.Short() {
		t.Skip("real nodes take long")
	}
	if err := Unable(); err != nil {
		t.Skipf("REAL NODES ARE NOT TESTED: %v", err)
	}
	if os.Getenv(stage) != "tests" {
		t.Fatal("real nodes: TestMain does not call node.Main")
	}
	c, err := start(t, &o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (o *Options) fill() error {
	if o.Nodes == 0 {
		o.Nodes = 2
	}
	if o.GPUs == 0 {
		o.GPUs = 8
	}
	if o.Rig.NodeLease == 0 {
		o.Rig.NodeLease = 8 * time.Second
	}
	if o.Nodes < 0 || o.Nodes > 9 || o.GPUs < 0 || o.GPUs > 1000 {
		return fmt.Errorf("%d nodes of %d GPUs, want at most 9 nodes and 1000 GPUs", o.Nodes, o.GPUs)
	}
	o.Rig.Bin = os.Getenv(binDir)
	return nil
}

func start(t testing.TB, o *Options) (*Cluster, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	c := &Cluster{debian: os.Getenv(debianDir), images: map[string]string{}}
	c.Cluster = rig.Start(t, o.Rig)
	t.Cleanup(func() {
		if err := c.close(); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	var err error
	c.forward, err = forward(apiAddress+":443", strings.TrimPrefix(c.Config.Host, "https://"))
	if err != nil {
		return nil, err
	}
	if err := c.writeImages(); err != nil {
		return nil, err
	}
	if err := c.startDNS(ctx); err != nil {
		return nil, err
	}
	var group errgroup.Group
	for i := range o.Nodes {
		n := c.newNode(i+1, o)
		c.Nodes = append(c.Nodes, n)
		group.Go(func() error { return n.start(ctx) })
	}
	return c, group.Wait()
}

func (c *Cluster) writeImages() error {
	for name, files := range images(c.debian, c.Bin) {
		path := filepath.Join(c.Dir, fmt.Sprintf("image-%d.tar", len(c.images)))
		if err := writeImage(path, name, files); err != nil {
			return err
		}
		c.images[name] = path
	}
	return nil
}

func (c *Cluster) startDNS(ctx context.Context) error {
	port, err := rig.FreePort()
	if err != nil {
		return err
	}
	file := filepath.Join(c.Dir, "Corefile")
	data := map[string]any{"Gateway": Gateway, "Ready": port, "Kubeconfig": c.Kubeconfig}
	if err := rig.WriteConfig(config, "Corefile", file, data); err != nil {
		return err
	}
	p, err := c.Run("coredns", filepath.Join(c.Bin, "coredns"), nil, "-conf", file)
	if err != nil {
		return err
	}
	ready := func() error {
		answer, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/ready", port))
		if err != nil {
			return err
		}
		if answer.StatusCode != http.StatusOK {
			err = fmt.Errorf("status %d, want 200", answer.StatusCode)
		}
		return errors.Join(err, answer.Body.Close())
	}
	return rig.Until(ctx, "the DNS server", func() error { return p.Answers(ready) })
}

func (c *Cluster) close() error {
	var all []error
	for _, n := range c.Nodes {
		all = append(all, n.close())
	}
	if c.forward != nil {
		all = append(all, c.forward.Close())
	}
	return errors.Join(all...)
}
