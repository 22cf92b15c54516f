package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/oxgang/oxgang/cmd/oxgang/cli"
	"github.com/oxgang/oxgang/cmd/oxgang/live"
	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/control"
	"github.com/oxgang/oxgang/live/control/controltest"
	"github.com/oxgang/oxgang/live/status"
	"github.com/oxgang/oxgang/model/job"
)

// A fake is a scheduler on a real socket whose jobs do what a test says. The machine
// outlives its schedulers.
type fake struct {
	*controltest.Machine
	server *control.Server // nil: none listens
	done   chan error
}

func newFake(logs string) *fake {
	return &fake{Machine: controltest.New(logs, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))}
}

// start makes a scheduler listen in a state directory.
func (f *fake) start(dir string) error {
	l, err := control.Listen(filepath.Join(dir, "control.sock"), control.Private())
	if err != nil {
		return err
	}
	f.server, f.done = control.New(f.Machine), make(chan error, 1)
	go func() { f.done <- f.server.Serve(l) }()
	return nil
}

// stop ends the scheduler, if there is one.
func (f *fake) stop() error {
	if f.server == nil {
		return nil
	}
	err := f.server.Shutdown(context.Background())
	f.server = nil
	return errors.Join(err, <-f.done)
}

// liveCommands are the script commands that talk to a fake backend:
//
//	scheduler start DIR     start a scheduler in this state directory
//	scheduler stop          stop it
//	change JOB JSON         change a job's status
//	ends JOB EARLY LATE     set its expected end, from now
//	end JOB OUTCOME [DETAIL]
//	machine JSON            change the machine's status
//	say JOB LINE...         add lines to the job's log
//	await JOB               wait until it has been submitted
//	request FILE [NAME...]  write the last request, without the environment except NAMEs
var liveCommands = map[string]func(*testscript.TestScript, bool, []string){
	"scheduler": func(ts *testscript.TestScript, _ bool, args []string) {
		if args[0] == "stop" {
			ts.Check(machine(ts).stop())
			return
		}
		ts.Check(machine(ts).start(ts.MkAbs(args[1])))
		ts.Defer(func() { ts.Check(machine(ts).stop()) })
	},
	"change": func(ts *testscript.TestScript, _ bool, args []string) {
		machine(ts).Change(job.ID(args[0]), func(v *status.Job) { ts.Check(json.Unmarshal([]byte(args[1]), v)) })
	},
	"ends": func(ts *testscript.TestScript, _ bool, args []string) {
		machine(ts).Change(job.ID(args[0]), func(v *status.Job) { v.End = status.Range{Early: later(ts, args[1]), Late: later(ts, args[2])} })
	},
	"end": func(ts *testscript.TestScript, _ bool, args []string) {
		end(machine(ts), job.ID(args[0]), args[1], strings.Join(args[2:], " "))
	},
	"machine": func(ts *testscript.TestScript, _ bool, args []string) {
		machine(ts).ChangeStatus(func(s *status.Status) { ts.Check(json.Unmarshal([]byte(args[0]), s)) })
	},
	"say": func(ts *testscript.TestScript, _ bool, args []string) {
		ts.Check(machine(ts).Say(job.ID(args[0]), strings.Join(args[1:], "\n")+"\n"))
	},
	"await": func(ts *testscript.TestScript, _ bool, args []string) {
		ctx, stop := context.WithTimeout(context.Background(), time.Minute)
		defer stop()
		ts.Check(machine(ts).Await(ctx, job.ID(args[0])))
	},
	"request": func(ts *testscript.TestScript, _ bool, args []string) {
		all := machine(ts).Requests()
		r := all[len(all)-1]
		r.Env = slices.DeleteFunc(r.Env, func(e string) bool { return !slices.Contains(args[1:], e[:strings.IndexByte(e, '=')]) })
		text, err := json.MarshalIndent(r, "", "  ")
		ts.Check(err)
		ts.Check(os.WriteFile(ts.MkAbs(args[0]), append(text, '\n'), 0o600))
	},
}

func machine(ts *testscript.TestScript) *fake {
	f, ok := ts.Value(fakeKey{}).(*fake)
	if !ok {
		ts.Fatalf("the script has no machine")
	}
	return f
}

type fakeKey struct{}

// later returns the time that is text from now; the zero time for -.
func later(ts *testscript.TestScript, text string) time.Time {
	if text == "-" {
		return time.Time{}
	}
	d, err := time.ParseDuration(text)
	ts.Check(err)
	return time.Now().Add(d)
}

// end ends a job.
func end(f *fake, id job.ID, outcome, detail string) {
	phase := map[string]job.Phase{"done": job.Completed, "failed": job.Failed, "cancelled": job.Cancelled}[outcome]
	f.End(id, phase, outcome, detail)
}

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]int64{
		"": 0, "8GiB": 8 << 30, "8G": 8 << 30, "8g": 8 << 30, "8.5 GB": 8.5e9, "1k": 1024, "2TiB": 2 << 40, "500MB": 500e6, "4096": 4096, "7b": 7,
	} {
		if got, err := live.ParseBytes(text); got != want || err != nil {
			t.Errorf("%q: got %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"GiB", "-1G", "0", "0.5", "NaN", "1e30", "8 apples", "8GiB8", "1.2.3", "inf"} {
		if got, err := live.ParseBytes(text); err == nil {
			t.Errorf("%q: got %d, want an error", text, got)
		}
	}
}

func TestParseRange(t *testing.T) {
	for text, want := range map[string]control.Range{"1": {Min: 1, Max: 1}, "1..4": {Min: 1, Max: 4}, "4..4": {Min: 4, Max: 4}} {
		if got, err := cli.ParseRange(text); got != want || err != nil {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "-1", "1..", "..4", "4..1", "1...4", "1-4", "99999999", "0..4", "a"} {
		if got, err := cli.ParseRange(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}

// What says where this process stands in a job is not the job's.
func TestCaptured(t *testing.T) {
	env, odd := live.Captured([]string{
		"PATH=/bin", "EMPTY=", "RANK=1", "LOCAL_RANK=1", "WORLD_SIZE=2", "MASTER_ADDR=a", "MASTER_PORT=1", "TORCHELASTIC_RUN_ID=a",
		"OXGANG_TOKEN=secret", "OXGANG_STATE=/s", "CUDA_VISIBLE_DEVICES=3", "RANKING=x", "ODD=\xff", "=C:=x", "A=b=c",
	})
	if want := []string{"PATH=/bin", "EMPTY=", "RANKING=x", "A=b=c"}; !slices.Equal(env, want) {
		t.Errorf("got %q, want %q", env, want)
	}
	if !slices.Equal(odd, []string{"ODD"}) {
		t.Errorf("left out %q, want ODD", odd)
	}
}

func TestShort(t *testing.T) {
	for text, want := range map[string]string{
		"-5s": "0s", "0s": "0s", "59.9s": "59s", "1m": "1m", "59m59s": "59m", "1h": "1h00m", "23h59m": "23h59m", "24h": "1d0h", "51h": "2d3h",
	} {
		d, err := time.ParseDuration(text)
		if got := printable.Short(d); got != want || err != nil {
			t.Errorf("%s: got %s, %v, want %s", text, got, err, want)
		}
	}
}

func TestNumber(t *testing.T) {
	for x, want := range map[float64]string{0: "", 0.123456: "0.1235", 3: "3", 812.345: "812.3", 12345.6: "12346", 1234567: "1.23e+06"} {
		if got := status.Number(x); got != want {
			t.Errorf("%v: got %s, want %s", x, got, want)
		}
	}
}

func TestHeadline(t *testing.T) {
	for detail, want := range map[string]string{
		"": "", "exit status 1": "exit status 1", "exit status 1; its last lines:\na\nb": "exit status 1",
		"failed 3 times; killed; its last lines:\na": "failed 3 times; killed", "one\ntwo": "one", "a; b:": "a; b:",
	} {
		if got := status.Headline(detail); got != want {
			t.Errorf("%q: got %q, want %q", detail, got, want)
		}
	}
}
