package rig

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Backup stops etcd, copies its data, and starts it again. It returns the directory of the copy, which Close removes.
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

// Restore replaces etcd's data by a copy that Backup made, so that etcd's revisions go back. The control plane is
// stopped meanwhile.
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
	for _, name := range names { // each starts once the one before answers
		if err := c.Process(name).Start(); err != nil {
			return fmt.Errorf("restore etcd: %w", err)
		}
		if err := c.answers(ctx, name); err != nil {
			return fmt.Errorf("restore etcd: %w", err)
		}
	}
	return nil
}

func (c *Cluster) data() string { return filepath.Join(c.Dir, "etcd") }

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
