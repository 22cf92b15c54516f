package view

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// Errors of kubectl.
var (
	ErrNoKubectl = errors.New("kubectl is not in PATH")
	ErrForbidden = errors.New("not permitted")
	ErrNoKind    = errors.New("the cluster does not have this kind of object")
	ErrNotFound  = errors.New("not found")
)

// Kubectl reads a cluster with the user's kubectl.
type Kubectl struct {
	Flags  []string             // --context and --kubeconfig
	absent map[string]time.Time // until when a kind is missing; nil: not cached
}

// absence is how long a missing kind is not requested again.
const absence = 10 * time.Minute

// Get returns the output of "kubectl get".
func (k *Kubectl) Get(ctx context.Context, args ...string) ([]byte, error) {
	kind := args[0]
	if time.Now().Before(k.absent[kind]) {
		return nil, fmt.Errorf("kubectl: %w: %s", ErrNoKind, kind)
	}
	text, err := k.call(ctx, append([]string{"get"}, args...)...)
	if errors.Is(err, ErrNoKind) && k.absent != nil {
		k.absent[kind] = time.Now().Add(absence)
	}
	return text, err
}

// Namespace returns the user's current namespace.
func (k *Kubectl) Namespace(ctx context.Context) (string, error) {
	out, err := k.call(ctx, "config", "view", "--minify", "-o", "jsonpath={..namespace}")
	if err != nil {
		return "", err
	}
	if ns := strings.TrimSpace(string(out)); ns != "" {
		return ns, nil
	}
	return "default", nil
}

// Title names the cluster: the user's context.
func (k *Kubectl) Title(ctx context.Context) string {
	if i := slices.Index(k.Flags, "--context"); i >= 0 {
		return k.Flags[i+1]
	}
	out, err := k.call(ctx, "config", "current-context")
	if err != nil {
		return "Kubernetes"
	}
	return cmp.Or(strings.TrimSpace(string(out)), "Kubernetes")
}

// call runs kubectl with the user's standard input, because a plugin may ask for a password.
func (k *Kubectl) call(ctx context.Context, args ...string) ([]byte, error) {
	return k.input(ctx, os.Stdin, args...)
}

func (k *Kubectl) input(ctx context.Context, in io.Reader, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "kubectl", append(slices.Clip(k.Flags), args...)...)
	var out, complaint bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, &out, &complaint
	err := cmd.Run()
	switch {
	case err == nil:
		return out.Bytes(), nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return nil, ErrNoKubectl
	}
	return nil, errorOf(complaint.String(), err)
}

func errorOf(complaint string, ended error) error {
	line := errorLine(complaint)
	for _, known := range []struct {
		text string
		err  error
	}{
		{"Error from server (Forbidden): ", ErrForbidden},
		{"Error from server (NotFound): ", ErrNotFound},
		{"the server doesn't have a resource type", ErrNoKind},
	} {
		if strings.Contains(line, known.text) {
			return fmt.Errorf("kubectl: %w: %s", known.err, strings.TrimPrefix(line, "Error from server "))
		}
	}
	if line == "" {
		return fmt.Errorf("kubectl: %w", ended)
	}
	return fmt.Errorf("kubectl: %s", line)
}

func errorLine(complaint string) string {
	last := ""
	for line := range strings.Lines(complaint) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "Error from server") || strings.HasPrefix(line, "error: ") {
			return strings.TrimPrefix(line, "error: ")
		}
		if line != "" {
			last = line
		}
	}
	return last
}
