package rig

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// ModuleDir returns the source directory of a Go module on which the set Everything depends.
func ModuleDir(ctx context.Context, module string) (string, error) {
	return ModuleDirOf(ctx, Everything, module)
}

// ModuleDirOf returns the source directory of a Go module at the version on which set depends. It downloads the module
// if necessary.
func ModuleDirOf(ctx context.Context, set Set, module string) (string, error) {
	source, err := sources(releases[set].module)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
	cmd.Dir, cmd.Stderr = source, os.Stderr
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	out, failed := cmd.Output()
	var m struct{ Dir, Error string }
	if err := json.Unmarshal(out, &m); failed != nil || err != nil {
		return "", fmt.Errorf("download module %s: %w: %s", module, errors.Join(failed, err), m.Error)
	}
	return m.Dir, nil
}
