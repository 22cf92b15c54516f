package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/supervisor"
)

// roles are what the test binary is when it is started as something else.
var roles = map[string]func(args []string) error{
	"keeper": func(args []string) error { return supervisor.Main(args[0]) },
	"worker": func(args []string) error { return newWorker(args).run() },
	"serve":  func(args []string) error { return serveScript(args[0], args[1]) },
}

// A worker is a training program as package oxgang for Python makes one: it says what it
// is, counts steps, saves them, and stops on notice after a checkpoint. Of the workers of a
// generation, rank 0 counts; the others only wait for it.
type worker struct {
	rank, world, generation, slot int
	job, folder                   string
	steps, step, saved            int
	sequence                      int64
	http                          http.Client
}

func number(name string) int {
	n, err := strconv.Atoi(os.Getenv(name))
	if err != nil {
		panic(err)
	}
	return n
}

// newWorker returns one that makes so many steps, of 10 ms.
func newWorker(args []string) *worker {
	steps, err := strconv.Atoi(args[0])
	if err != nil {
		panic(err)
	}
	w := &worker{
		rank: number("RANK"), world: number("WORLD_SIZE"), generation: number("OXGANG_GENERATION"), slot: number("OXGANG_SLOT"),
		job: os.Getenv("OXGANG_JOB"), folder: os.Getenv("OXGANG_CHECKPOINTS"), steps: steps,
	}
	socket := os.Getenv("OXGANG_SOCKET")
	w.http.Transport = &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return net.Dial("unix", socket)
	}}
	w.http.Timeout = time.Second
	return w
}

func (w *worker) run() error {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	w.audit("begins")
	w.restore()
	began := w.step
	fmt.Println("from step", w.step)
	if w.rank == 0 {
		w.post("hello", agentapi.Hello{
			Version: 1, Client: "test", Generation: w.generation, WorldSize: w.world, Batch: agentapi.BatchLimits{Init: 64, Max: 64},
			Samples: float64(64 * w.steps), Restored: w.restored(),
		})
	}
	for tick := time.NewTicker(10 * time.Millisecond); w.step < w.steps; {
		select {
		case <-stop:
			w.checkpoint()
			w.audit("ends")
			os.Exit(supervisor.TempFail)
		case <-tick.C:
			w.step++
			if w.step%20 == 0 {
				w.checkpoint()
				w.report(w.step - began)
			}
		}
	}
	w.checkpoint()
	w.report(w.step - began)
	w.audit("ends")
	return nil
}

// audit writes down what happens, when it does.
func (w *worker) audit(what string) {
	f, err := os.OpenFile(filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(w.folder))), "audit"), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err == nil {
		_, err = fmt.Fprintf(f, "%s %d %d %d %s %d\n", w.job, w.generation, w.rank, w.slot, what, os.Getpid())
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		panic(err)
	}
}

func (w *worker) path() string { return filepath.Join(w.folder, "steps") }

func (w *worker) restore() {
	text, err := os.ReadFile(w.path())
	if err == nil {
		w.step, err = strconv.Atoi(string(text))
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		panic(err)
	}
	w.saved = w.step
}

const checksum = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func (w *worker) restored() *agentapi.Restored {
	if w.step == 0 {
		return nil
	}
	return &agentapi.Restored{Step: int64(w.step), Progress: float64(64 * w.step), Checksum: checksum}
}

// checkpoint saves the steps so far, whole or not at all.
func (w *worker) checkpoint() {
	if w.rank > 0 || w.step == w.saved {
		return
	}
	if err := os.WriteFile(w.path()+".new", []byte(strconv.Itoa(w.step)), 0o600); err != nil {
		panic(err)
	}
	if err := os.Rename(w.path()+".new", w.path()); err != nil {
		panic(err)
	}
	w.saved = w.step
	w.post("checkpoint", agentapi.Checkpoint{Generation: w.generation, Step: int64(w.step), Progress: float64(64 * w.step), Path: "steps-" + strconv.Itoa(w.step), Checksum: checksum, Bytes: 4})
}

func (w *worker) report(steps int) {
	if w.rank > 0 {
		return
	}
	w.sequence++
	w.post("report", agentapi.Report{
		Generation: w.generation, Sequence: w.sequence, Step: int64(w.step), Progress: float64(64 * w.step), Interval: 0.01 * float64(steps),
		Batch: agentapi.Batch{Local: 64 / w.world}, StepTime: 0.01, SyncTime: 0.001,
	})
}

// post sends a message, and again while nobody is there; what is refused is not sent again.
func (w *worker) post(what string, message any) {
	body, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	for range 500 {
		r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://x/v1/"+what, bytes.NewReader(body))
		if err != nil {
			panic(err)
		}
		r.Header.Set("Authorization", "Bearer "+os.Getenv("OXGANG_TOKEN"))
		r.Header.Set("Content-Type", "application/json")
		answer, err := w.http.Do(r)
		if err == nil {
			answer.Body.Close()
			if answer.StatusCode < http.StatusInternalServerError && answer.StatusCode != http.StatusTooManyRequests {
				return
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// An audit is what the workers of a state directory wrote down.
type audit struct {
	live  map[string]string // worker of a job -> its generation
	on    map[string]string // slot -> who is on it
	begun map[string]int    // starts of a job's rank 0
	wrong []string
}

// readAudit checks that no slot ever had two workers, and no job two generations, where no
// worker was killed: one that is does not write that it ends.
func readAudit(dir string) (*audit, error) {
	text, err := os.ReadFile(filepath.Join(dir, "audit"))
	if err != nil {
		return nil, err
	}
	a := &audit{live: map[string]string{}, on: map[string]string{}, begun: map[string]int{}}
	for line := range strings.Lines(string(text)) {
		a.line(strings.Fields(line))
	}
	return a, nil
}

func (a *audit) line(f []string) {
	job, generation, rank, slot, what := f[0], f[1], f[2], f[3], f[4]
	who := job + "/" + rank
	if what == "ends" {
		delete(a.live, who)
		delete(a.on, slot)
		return
	}
	if rank == "0" {
		a.begun[job]++
	}
	if other, busy := a.on[slot]; busy {
		a.wrong = append(a.wrong, fmt.Sprintf("%s of generation %s begins on slot %s, where %s is", who, generation, slot, other))
	}
	if other, busy := a.live[who]; busy {
		a.wrong = append(a.wrong, fmt.Sprintf("%s of generation %s begins while generation %s lives", who, generation, other))
	}
	a.live[who], a.on[slot] = generation, who
}
