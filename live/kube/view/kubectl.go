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

// Why kubectl could not answer.
var (
	ErrNoKubectl = errors.New("kubectl is not in PATH")
	ErrForbidden = errors.New("not permitted")
	ErrNoKind    = errors.New("the cluster does not have this kind of object")
	ErrNotFound  = errors.New("not found")
)

// Kubectl asks a cluster.
type Kubectl struct {
	Flags  []string             // of every call: --context and --kubeconfig
	absent map[string]time.Time // kinds that the cluster does not have, until they are asked for again; nil: none is remembered
}

// absence is how long a kind that the cluster does not have is not asked for again: to find out, kubectl reads all kinds anew.
const absence = 10 * time.Minute

// remember makes k not ask again and again for kinds that the cluster does not have.
func (k *Kubectl) remember() {
	if k.absent == nil {
		k.absent = make(map[string]time.Time)
	}
}

// Get returns what "kubectl get" prints. An error is one of those above where it is known,
// and has the first line of what kubectl said.
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

// Namespace returns the namespace of the user's context.
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

// Title returns the name of the user's context, as a title.
func (k *Kubectl) Title(ctx context.Context) string {
	if i := slices.Index(k.Flags, "--context"); i >= 0 {
		return k.Flags[i+1]
	}
	out, err := k.call(ctx, "config", "current-context")
	if err != nil { // there is none
		return "Kubernetes"
	}
	return cmp.Or(strings.TrimSpace(string(out)), "Kubernetes")
}

// call runs kubectl. Its standard input is the user's: a plugin may ask for a password.
func (k *Kubectl) call(ctx context.Context, args ...string) ([]byte, error) {
	return k.input(ctx, os.Stdin, args...)
}

// input runs kubectl with a standard input.
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
	return nil, said(complaint.String(), err)
}

// said returns the error that kubectl complained of, or else how it ended.
func said(complaint string, ended error) error {
	line := lastWords(complaint)
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

// lastWords returns the line of a complaint that says what was wrong: the first that begins
// as an error, or else the last. Lines of the client's log come before it.
func lastWords(complaint string) string {
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
