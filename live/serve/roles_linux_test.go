package serve

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime/pprof"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/control/controltest"
	"github.com/oxgang/oxgang/live/local/statedir"
	"github.com/oxgang/oxgang/live/supervisor"
)

// roles are what the test binary is when it is started as something else.
var roles = map[string]func(args []string) error{
	"keeper": func(args []string) error { return supervisor.Main(args[0]) },
	"worker": func([]string) error { return work() },
	"serve":  serveLoad,
	"shared": serveShared,
	"save":   save,
	"backup": backUp,
}

// TestMain lets the test binary be what else its tests need.
func TestMain(m *testing.M) {
	if role := roles[os.Args[min(1, len(os.Args)-1)]]; role != nil {
		if err := role(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// profileVariable is the environment variable that says where the scheduler's profile goes.
const profileVariable = "SERVE_PROFILE"

// profile returns where the scheduler's profile goes; empty: none is wanted.
func profile() string {
	if f := flag.Lookup("test.cpuprofile"); f != nil && f.Value.String() != "" {
		return f.Value.String() + ".serve"
	}
	return ""
}

// serveLoad serves a directory with so many slots, rounds and reports, and limits of logs and journals if there are any,
// until SIGTERM. It writes a line when it is ready.
func serveLoad(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	o := DefaultOptions()
	o.Dir, o.Supervisor, o.Ready = args[0], []string{self, "keeper"}, func() { fmt.Println("ready") }
	var err1, err2, err3 error
	o.Slots, err1 = strconv.Atoi(args[1])
	o.Round, err2 = time.ParseDuration(args[2])
	o.Report, err3 = time.ParseDuration(args[3])
	for _, err := range []error{err1, err2, err3} {
		if err != nil {
			return err
		}
	}
	if len(args) > 4 {
		var logs, journals int64
		if _, err := fmt.Sscanf(args[4], "%d,%d", &logs, &journals); err != nil {
			return err
		}
		o.Keep = o.Keep.With(statedir.Limits{statedir.Logs: {Bytes: logs}, statedir.Journals: {Bytes: journals}})
	}
	go profileBetweenSignals(os.Getenv(profileVariable))
	return Run(ctx, o)
}

// profileBetweenSignals writes a profile of the time between two SIGUSR1.
func profileBetweenSignals(path string) {
	mark := make(chan os.Signal, 1)
	signal.Notify(mark, syscall.SIGUSR1)
	<-mark
	if path == "" {
		return
	}
	f, err := os.Create(path)
	if err == nil {
		err = pprof.StartCPUProfile(f)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	<-mark
	pprof.StopCPUProfile()
	_ = f.Close()
}

// work is a training program that says what it is, reports when it is asked to, and else
// does nothing. Programs of different slots report at different times.
func work() error {
	slot, err1 := strconv.Atoi(os.Getenv("OXGANG_SLOT"))
	generation, err2 := strconv.Atoi(os.Getenv("OXGANG_GENERATION"))
	if err1 != nil || err2 != nil {
		return fmt.Errorf("%w, %w", err1, err2)
	}
	hello := agentapi.Hello{Version: 1, Client: "test", Generation: generation, WorldSize: 1, Batch: agentapi.BatchLimits{Init: 64, Max: 64}, Samples: 1e9}
	var welcome agentapi.Welcome
	if err := controltest.Post("hello", &hello, &welcome); err != nil {
		return err
	}
	every := time.Duration(welcome.ReportSeconds * float64(time.Second))
	time.Sleep(every * time.Duration(slot%100) / 100)
	r := agentapi.Report{Generation: generation, Batch: agentapi.Batch{Local: 64}, Interval: every.Seconds(), SyncTime: 0.001, GradSqr: 1, GradVar: 10}
	for tick := time.NewTicker(every); ; <-tick.C {
		r.Sequence++
		r.Step += int64(every / (100 * time.Millisecond))
		r.StepTime = 0.1 + 0.001*float64((r.Sequence+int64(slot))%7) // no two are quite the same
		r.Progress = float64(64 * r.Step)
		if err := controltest.Post("report", &r, &agentapi.Answer{}); err != nil {
			return err
		}
	}
}
