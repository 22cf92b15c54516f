package serve

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/control"
)

// What a scheduler keeps in TestKeeping, in bytes: its limits, and what is allowed beyond them.
const (
	keptLogs     = 32 << 20
	keptJournals = 16 << 20
	beyondPart   = 20 << 20                 // the part of the journal that is written, with its checkpoint
	beyondLogs   = (1000 + 64) * (48 << 10) // folders of jobs that end between two prunings
	beyondBase   = 16 << 20                 // what an empty database and its log take
	beyondJob    = 4 << 10                  // the row of a job
	environment  = 3 << 10                  // of each job
)

// A keeping is a scheduler in a process of its own to which short jobs are submitted.
type keeping struct {
	t      *testing.T
	dir    string
	cmd    *exec.Cmd
	client *control.Client
}

// serve starts the scheduler and returns how long it took until it served.
func (k *keeping) serve() time.Duration {
	k.t.Helper()
	k.cmd = exec.Command(self(k.t), "serve", k.dir, "16", "100ms", "30s", fmt.Sprintf("%d,%d", keptLogs, keptJournals))
	k.cmd.Env = append(os.Environ(), "CUDA_VISIBLE_DEVICES=")
	k.cmd.Stderr = os.Stderr
	out, err := k.cmd.StdoutPipe()
	began := time.Now()
	if err == nil {
		err = k.cmd.Start()
	}
	if err == nil {
		_, err = out.Read(make([]byte, 1))
	}
	if err != nil {
		k.t.Fatal(err)
	}
	return time.Since(began)
}

// stop ends the scheduler.
func (k *keeping) stop() {
	_ = k.cmd.Process.Signal(syscall.SIGTERM)
	if err := k.cmd.Wait(); err != nil {
		k.t.Error(err)
	}
}

// active returns how many jobs have not ended.
func (k *keeping) active() int {
	now, err := k.client.Status(context.Background(), false)
	if err != nil {
		k.t.Fatal(err)
	}
	return len(now.Jobs)
}

// await returns when at most so many jobs have not ended.
func (k *keeping) await(most int) {
	for end := time.Now().Add(2 * time.Minute); k.active() > most; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			k.t.Fatalf("after 2 minutes: %d jobs have not ended", k.active())
		}
	}
}

// submit has n jobs run that end at once.
func (k *keeping) submit(n int) {
	r := control.NewRequest()
	r.Name, r.Dir, r.Command = "short", k.dir, []string{"true"}
	r.Env = []string{"PATH=" + os.Getenv("PATH"), "FILLER=" + strings.Repeat("x", environment)}
	for i := range n {
		if i%16 == 0 {
			k.await(32)
		}
		if _, err := k.client.Submit(context.Background(), &r); err != nil {
			k.t.Fatal(err)
		}
	}
}

// taken returns what the files of a directory take, in blocks of 4 KiB.
func taken(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it was deleted meanwhile
		}
		if info, err := e.Info(); err == nil {
			bytes += max(1, (info.Size()+4095)/4096) * 4096
		}
		return nil
	})
	return bytes
}

// memory returns a line of the status of the scheduler's process, in bytes. See proc_pid_status(5).
func (k *keeping) memory(key string) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", k.cmd.Process.Pid))
	if err != nil {
		k.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), key+":")
	n, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		k.t.Fatal(err)
	}
	return n << 10
}

// row prints a row of the table.
func (k *keeping) row(jobs int, size int64) {
	db := int64(0)
	for _, name := range []string{"oxgang.db", "oxgang.db-wal"} {
		if info, err := os.Stat(filepath.Join(k.dir, name)); err == nil {
			db += info.Size()
		}
	}
	k.t.Logf("%6d jobs: state %4d MiB (database %3d, journals %3d, jobs %3d), memory %3d MiB, at most %3d, processor %6.1f s", jobs, size>>20, db>>20,
		taken(filepath.Join(k.dir, "journal"))>>20, taken(filepath.Join(k.dir, "jobs"))>>20, k.memory("VmRSS")>>20, k.memory("VmHWM")>>20, used(k.t, k.cmd.Process.Pid).Seconds())
}

// TestKeeping: a state directory stays under what is stated however many jobs have run, and its scheduler starts again. 30,000
// jobs take an hour:
//
//	OXGANG_KEEPING=30000 go test ./live/serve -run TestKeeping -v -timeout 2h
func TestKeeping(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	jobs := 150
	if text := os.Getenv("OXGANG_KEEPING"); text != "" {
		var err error
		if jobs, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(t.TempDir(), "state")
	k := &keeping{t: t, dir: dir, client: control.NewClient(ControlSocket(dir))}
	k.serve()
	step := max(50, jobs/15)
	for n := 0; n < jobs; {
		k.submit(min(step, jobs-n))
		n += min(step, jobs-n)
		size := taken(dir)
		k.row(n, size)
		if most := int64(keptLogs + keptJournals + beyondPart + beyondLogs + beyondBase + n*beyondJob); size > most {
			t.Errorf("after %d jobs the state directory has %d bytes, want at most %d", n, size, most)
		}
	}
	k.await(0)
	k.stop()
	took := k.serve()
	t.Logf("started again in %v with %.2f processor seconds and %d MiB", took.Round(time.Millisecond), used(t, k.cmd.Process.Pid).Seconds(), k.memory("VmRSS")>>20)
	if n := k.active(); n > 0 {
		t.Errorf("%d jobs have not ended, want none", n)
	}
	k.submit(1)
	k.await(0)
	k.stop()
}
