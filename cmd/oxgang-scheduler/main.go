// Command oxgang-scheduler is the scheduler of a Kubernetes cluster.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"syscall"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/oxgang/oxgang/internal/printable"
	"github.com/oxgang/oxgang/live/kube/manager"
	"github.com/oxgang/oxgang/live/monitor"
	_ "github.com/oxgang/oxgang/policy/standard" // the policies that a Queue can name
)

var version = "dev"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", printable.Line(err.Error()))
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if os.Getenv("GOGC") == "" {
		collect()
	}
	path := flag.String("config", "", "configuration file (config.oxgang.dev/v1alpha1); default: built-in defaults")
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q; see --help", flag.Arg(0))
	}
	config := manager.DefaultConfig()
	if *path != "" {
		c, err := manager.Load(*path)
		if err != nil {
			return err
		}
		config = *c
	}
	rest, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	o := manager.Options{Config: config, Rest: rest, Identity: fmt.Sprintf("%s_%d", host, os.Getpid()), Tool: "oxgang-scheduler " + version}
	if monitor.TracesWanted(os.Getenv) {
		traces, err := monitor.NewTraces(ctx, "oxgang-scheduler", version)
		if err != nil {
			return err
		}
		defer func() {
			soon, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
			defer cancel()
			_ = traces.Shutdown(soon) // the rest is lost
		}()
		o.Traces = traces
	}
	return manager.Run(ctx, o)
}

// Limits on the growth of the heap between two garbage collections: room bytes, but at least collectMore and at
// most collectLess per cent of the live heap. Below smallRoom bytes, collectLess does not apply, since a fifth of
// the first 20 seconds was spent in collections.
const (
	room        = 64 << 20
	smallRoom   = 32 << 20
	collectLess = 50
	collectMore = 25
)

// A mark is garbage whose finalizer runs after each collection. It contains a pointer, because the allocator can
// combine small objects without pointers and keep them alive.
type mark struct{ _ *mark }

func collect() {
	debug.SetGCPercent(growth(0))
	runtime.SetFinalizer(new(mark), afterCollection)
}

func afterCollection(m *mark) {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	if metrics.Read(sample); sample[0].Value.Kind() == metrics.KindUint64 {
		debug.SetGCPercent(growth(int64(sample[0].Value.Uint64())))
	}
	runtime.SetFinalizer(m, afterCollection)
}

func growth(live int64) int {
	live = max(smallRoom/4, live)
	return int(max(collectMore, min(room*100/live, max(collectLess, smallRoom*100/live))))
}
