package generate

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/internal/rng"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/workload"
	"github.com/oxgang/oxgang/simulate/workload/profiles"
)

// A task has models in the order in which jobs use them. Source: Synergy §5.1, Table 4; order: public
// Synergy simulator.
type task struct {
	name   string
	models []string
}

var tasks = [...]task{
	{"image", []string{"alexnet", "res18", "res50", "mobilenet", "shufflenet"}},
	{"language", []string{"gnmt", "transformer", "lstm"}},
	{"speech", []string{"m5", "deepspeech"}},
}

type split [len(tasks)]int

const maxPart = 1000

func parseSplit(text string) (split, error) {
	var s split
	parts, sum := strings.Split(text, "-"), 0
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 || n > maxPart || len(parts) != len(s) {
			sum = 0
			break
		}
		s[i] = n
		sum += n
	}
	if sum == 0 {
		return s, fmt.Errorf("split %q, want parts of image-language-speech as 20-70-10: whole numbers to %d, not all 0", text, maxPart)
	}
	return s, nil
}

// models returns the models of n jobs, without randomness: each job has the task furthest below its part, and
// its next model. Source: public Synergy simulator.
func (s split) models(n int) []string {
	sum := 0
	for _, part := range s {
		sum += part
	}
	var count split
	all := make([]string, n)
	for i := range all {
		most := 0
		for k := range s {
			if s[k]*i-sum*count[k] > s[most]*i-sum*count[most] {
				most = k
			}
		}
		all[i] = tasks[most].models[count[most]%len(tasks[most].models)]
		count[most]++
	}
	return all
}

// synergySizes counts GPU requests of Philly jobs that last 32 minutes to a week. Source: README of the
// shared Synergy traces.
var synergySizes = []template{{gpus: 1, count: 8350}, {gpus: 2, count: 140}, {gpus: 4, count: 650}, {gpus: 8, count: 860}, {gpus: 16, count: 1}}

// synergySeconds draws the duration of a job with its GPU-proportional share. Source: Synergy §5.1,
// "Duration".
func synergySeconds(r source) float64 {
	least, most := 1.5, 3.0
	if r.Float64() >= 0.8 {
		least, most = 3, 4
	}
	return 60 * math.Pow(10, least+(most-least)*r.Float64())
}

// derived returns Synergy's trace: rigid jobs at a rate, or all at the start if it is 0. Their iteration times are
// for the GPU-proportional share of 3 CPUs and 62.5 GB. Source: Synergy §5.1, "Traces".
func derived(o Options) ([]workload.Arrival, error) {
	parts, err := parseSplit(o.Split)
	if err != nil {
		return nil, err
	}
	rates, models := profiles.ProfiledRates(), parts.models(o.Jobs)
	sizes := rng.Stream(o.Seed, "workload/synergy/sizes")
	lengths := rng.Stream(o.Seed, "workload/synergy/durations")
	all := make([]workload.Arrival, o.Jobs)
	for i, name := range models {
		gpus := 1
		if o.MultiGPU {
			gpus = draw(sizes, synergySizes).gpus
		}
		iterations := math.Floor(synergySeconds(lengths) * rates[name])
		all[i] = workload.Arrival{Application: name, Spec: job.Spec{
			ID:         job.ID(fmt.Sprintf("%s-%d", name, i)),
			GPUs:       gpus,
			Target:     iterations * float64(gpus),
			Adaptivity: job.Rigid,
		}}
	}
	return all, poisson(rng.Stream(o.Seed, "workload/synergy/times"), all, o.Load)
}

func poisson(r source, all []workload.Arrival, perHour float64) error {
	if perHour == 0 {
		return nil
	}
	hours := 0.0
	for i := range all {
		hours += r.ExpFloat64() / perHour
		if hours > maxGeneratedSpan.Hours() {
			return fmt.Errorf("generate workload: %d jobs at %g an hour come over more than 10 years, want fewer", len(all), perHour)
		}
		all[i].At = time.Duration(math.Ceil(hours*3600)) * time.Second
	}
	return nil
}
