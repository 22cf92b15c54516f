package rig

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

func (o *Options) build(ctx context.Context) error {
	if o.Bin != "" {
		return nil
	}
	dir, err := Build(ctx, Planes)
	if err == nil && o.Oldest {
		dir, err = buildOldest(ctx, dir)
	}
	o.Bin = dir
	return err
}

func buildOldest(ctx context.Context, planes string) (string, error) {
	dir, err := Build(ctx, Oldest)
	if err != nil {
		return "", err
	}
	for _, name := range []string{Etcd, Kwok, "kubectl"} {
		link := filepath.Join(dir, name)
		target := filepath.Join(planes, name)
		if is, err := os.Readlink(link); err == nil && is == target {
			continue
		}
		if err := errors.Join(ignoreMissing(os.Remove(link)), os.Symlink(target, link)); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", fmt.Errorf("build the rig's programs: %w", err)
		}
	}
	return dir, nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
