package simulate

import (
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/oxgang/oxgang/live/agentapi"
	"github.com/oxgang/oxgang/live/control/controltest"
	"github.com/oxgang/oxgang/live/supervisor"
)

// roles are what the test binary is when it is started as something else: what keeps the processes of a job, and a program that trains.
var roles = map[string]func(arg string) error{"keeper": supervisor.Main, "trains": trains}

// TestMain lets the test binary be what else its tests need.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && roles[os.Args[1]] != nil {
		if err := roles[os.Args[1]](os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// step is how long a step of a program takes, of batch samples.
const (
	step  = 100 * time.Millisecond
	batch = 64
)

// trains is a program that makes so many steps, and reports each.
func trains(text string) error {
	steps, err := strconv.Atoi(text)
	if err != nil {
		return err
	}
	generation, err := strconv.Atoi(os.Getenv("OXGANG_GENERATION"))
	if err != nil {
		return err
	}
	samples := float64(batch * steps)
	hello := agentapi.Hello{Version: 1, Client: "test", Generation: generation, WorldSize: 1, Batch: agentapi.BatchLimits{Init: batch, Max: batch}, Samples: samples}
	if err := controltest.Post("hello", &hello, &agentapi.Welcome{}); err != nil {
		return err
	}
	r := agentapi.Report{Generation: generation, Batch: agentapi.Batch{Local: batch}, Interval: step.Seconds(), StepTime: step.Seconds(), SyncTime: step.Seconds() / 100}
	for tick := time.NewTicker(step); r.Progress < samples; {
		<-tick.C
		r.Sequence++
		r.Step++
		r.Progress = float64(batch * r.Step)
		if err := controltest.Post("report", &r, &agentapi.Answer{}); err != nil {
			return err
		}
	}
	return nil
}
