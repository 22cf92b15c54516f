package rig

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Backup ends etcd, copies what it holds, and starts it again. It returns the directory of the copy, which is removed
// with the cluster.
func (c *Cluster) Backup(ctx context.Context) (string, error) {
	to, err := os.MkdirTemp(c.Dir, "backup-")
	if err != nil {
		return "", fmt.Errorf("back etcd up: %w", err)
	}
	etcd := c.Process(Etcd)
	if err := etcd.Kill(); err != nil {
		return "", fmt.Errorf("back etcd up: %w", err)
	}
	if err := os.CopyFS(to, os.DirFS(c.data())); err != nil {
		return "", fmt.Errorf("back etcd up: %w", err)
	}
	if err := etcd.Start(); err != nil {
		return "", fmt.Errorf("back etcd up: %w", err)
	}
	return to, c.answers(ctx, APIServer)
}

// Restore puts a copy that Backup made in the place of what etcd holds. It does it as Kubernetes advises: all programs of
// the control plane are ended before, and started again afterwards. What else runs beside the cluster runs on. Revisions
// of etcd fall, too.
func (c *Cluster) Restore(ctx context.Context, backup string) error {
	for _, name := range slices.Backward(names) {
		if err := c.Process(name).Kill(); err != nil {
			return fmt.Errorf("restore etcd: %w", err)
		}
	}
	if err := os.RemoveAll(c.data()); err != nil {
		return fmt.Errorf("restore etcd: %w", err)
	}
	if err := os.CopyFS(c.data(), os.DirFS(backup)); err != nil {
		return fmt.Errorf("restore etcd: %w", err)
	}
	for _, name := range names { // each as soon as those before it answer, or it ends
		if err := c.Process(name).Start(); err != nil {
			return fmt.Errorf("restore etcd: %w", err)
		}
		if err := c.answers(ctx, name); err != nil {
			return fmt.Errorf("restore etcd: %w", err)
		}
	}
	return nil
}

// data is etcd's directory.
func (c *Cluster) data() string { return filepath.Join(c.Dir, "etcd") }

// answers waits until etcd or the API server is ready; of others it asks nothing.
func (c *Cluster) answers(ctx context.Context, name string) error {
	client := c.Client().RESTClient()
	return poll(ctx, c.Process(name), name, func() bool {
		switch name {
		case Etcd:
			return healthy(c.EtcdEndpoint + "/health")
		case APIServer:
			return client.Get().AbsPath("/readyz").Do(ctx).Error() == nil
		}
		return true
	})
}
