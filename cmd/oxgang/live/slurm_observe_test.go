package live

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/live/slurm/view"
)

// recorded plays back what a real Slurm said: see live/slurm/client/testdata. JSON takes as long as is said.
func recorded(t *testing.T, slowness time.Duration, asked *[]string) client.Runner {
	return func(_ context.Context, c client.Command) ([]byte, error) {
		line := c.Name + " " + strings.Join(c.Args, " ")
		*asked = append(*asked, line)
		file := map[string]string{
			"squeue --json": "squeue.json", "scontrol -o -d show job": "scontrol-job.txt", "scontrol -o -d show node": "scontrol-node.txt",
			"scontrol -o show partition": "partitions.txt", "scontrol -o show reservation": "reservations.txt",
		}[line]
		switch {
		case file == "squeue.json":
			time.Sleep(slowness)
		case line == "scontrol --json show node":
			return nil, client.Failed("scontrol", "scontrol: unrecognized option '--json'\n", errors.New("exit status 1"))
		case c.Name == "sacctmgr":
			file = "qos.txt"
		}
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "live", "slurm", "client", "testdata", file))
		if err != nil {
			t.Error(err)
		}
		return text, err
	}
}

// TestTake_slow: where squeue takes long for JSON, the next look is in text; where text cannot be read, it is in JSON again.
func TestTake_slow(t *testing.T) {
	for slowness, want := range map[time.Duration]string{time.Second: "squeue --json", 3 * time.Second: "scontrol -o -d show job"} {
		synctest.Test(t, func(t *testing.T) {
			var asked []string
			time.Sleep(time.Until(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))) // after the recording
			o := &observation{client: &client.Client{Run: recorded(t, slowness, &asked), Slow: slow}}
			for range 2 {
				if _, _, err := o.take(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			jobs := slices.DeleteFunc(slices.Clone(asked), func(c string) bool { return !strings.Contains(c, "squeue") && !strings.HasSuffix(c, "show job") })
			if len(jobs) != 2 || jobs[1] != want {
				t.Errorf("after %v: %v, want %s", slowness, asked, want)
			}
			o.client.Run = func(_ context.Context, c client.Command) ([]byte, error) {
				if strings.Contains(strings.Join(c.Args, " "), "show job") {
					return []byte("JobId=1 JobName=a\nb\n"), nil
				}
				return recorded(t, 0, &asked)(t.Context(), c)
			}
			if l, _, err := o.take(t.Context()); err != nil || len(l.Jobs) != 16 {
				t.Errorf("after text that cannot be read: %v, want 16 jobs of JSON", err)
			}
		})
	}
}

// TestHinted: each error that a person can do something about says what.
func TestHinted(t *testing.T) {
	for _, err := range []error{
		&client.Error{Command: "squeue", Err: client.ErrNoCommand}, client.ErrUnreachable, client.ErrTimeout, client.ErrDenied, client.ErrVersion,
		client.ErrMalformed, view.ErrClocks,
	} {
		if got := slurmHinted(err); !errors.Is(got, err) || !strings.Contains(got.Error(), "hint: ") {
			t.Errorf("%v: %v, want a hint", err, got)
		}
	}
}
