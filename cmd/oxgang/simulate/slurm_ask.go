package simulate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/trace/slurm"
)

// month is how far back a Slurm is asked where --since does not say it.
const month = 30 * 24 * time.Hour

// askSlurm returns what sacct, in the user's path, says of the jobs of all users that the user may see.
func askSlurm(ctx context.Context, since time.Duration) ([]byte, error) {
	if since == 0 {
		since = month
	}
	from := fmt.Sprintf("now-%dseconds", int(since.Seconds()))
	return slurmSays(ctx, "sacct", "-P", "-a", "-X", "-D", "-S", from, "-o", slurm.Columns)
}

// askNodes returns the nodes that scontrol says there are, as a configuration names them.
func askNodes(ctx context.Context) (string, error) {
	name, args, _ := strings.Cut(slurm.NodesCommand, " ")
	text, err := slurmSays(ctx, name, strings.Fields(args)...)
	if err != nil {
		return "", err
	}
	return slurm.Nodes(bytes.NewReader(text), slurm.NodesCommand)
}

// slurmSays returns what a command of Slurm prints, its times as seconds since 1970.
func slurmSays(ctx context.Context, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Env = &out, &complaint, append(os.Environ(), "SLURM_TIME_FORMAT=%s")
	err := cmd.Run()
	switch {
	case err == nil:
		return out.Bytes(), nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, exec.ErrNotFound):
		return nil, cli.Hinted(fmt.Errorf("%s is not in the path", name), "run this on a login node, or export there and name the file: "+slurm.Export)
	}
	said, _, _ := strings.Cut(strings.TrimSpace(complaint.String()), "\n")
	if said == "" {
		said = err.Error()
	}
	return nil, fmt.Errorf("%s: %s", name, strings.TrimPrefix(said, name+": error: "))
}

// fromSlurm opens what sacct says.
func (h *history) fromSlurm(ctx context.Context, since time.Duration) (io.ReadCloser, error) {
	text, err := askSlurm(ctx, since)
	return io.NopCloser(bytes.NewReader(text)), err
}
