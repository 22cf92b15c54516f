package shockwave_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/oxgang/oxgang/internal/testdata"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/policy/shockwave"
)

// A profile is a job of Shockwave's published profiles.
type profile struct {
	Model   string
	Mode    string
	Epochs  int                `json:"num_epochs"`
	RLE     [][2]int           `json:"bs_rle"` // batch size, epochs
	Seconds map[string]float64 `json:"epoch_s_by_bs"`
	times   map[int]time.Duration
}

// largest are the batch sizes per GPU up to which the rules go.
// Source: public Shockwave traces.
var largest = map[string]int{"LM": 80, "ResNet-18": 256, "ResNet-50": 128, "Recommendation": 8192, "Transformer": 128}

// adapting returns the Accordion and GNS jobs of all profiles.
func adapting(t *testing.T) []*profile {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(testdata.Path(t, "shockwave/profiles"), "*.json"))
	if err != nil || len(files) != 4 {
		t.Fatalf("%d profiles (%v), want 4", len(files), err)
	}
	var jobs []*profile
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var all []*profile
		if err := json.Unmarshal(text, &all); err != nil {
			t.Fatal(err)
		}
		for _, p := range all {
			if p.Mode != "static" {
				p.prepare()
				jobs = append(jobs, p)
			}
		}
	}
	return jobs
}

// prepare makes the times, and leaves out that the public profile generator gives
// the last epoch under GNS the first batch size: GNS "never scales down" (§5).
func (p *profile) prepare() {
	p.times = make(map[int]time.Duration)
	for b, s := range p.Seconds {
		size, _ := strconv.Atoi(b)
		p.times[size] = time.Duration(s * float64(time.Second))
	}
	if last := len(p.RLE) - 1; p.Mode == "gns" && last > 0 && p.RLE[last][0] < p.RLE[last-1][0] {
		p.RLE[last-1][1] += p.RLE[last][1]
		p.RLE = p.RLE[:last]
	}
}

// total returns the nanoseconds of all epochs.
func (p *profile) total() float64 {
	total := 0.0
	for _, r := range p.RLE {
		total += float64(r[1]) * float64(p.times[r[0]])
	}
	return total
}

// own returns the batch sizes that the job goes through: what the public code
// knows of it.
func (p *profile) own() []int {
	var sizes []int
	for _, r := range p.RLE {
		sizes = append(sizes, r[0])
	}
	return sizes
}

// byRule returns the batch sizes that the job's rule allows, at most most under
// Accordion, with a time for each: that of the largest known one for those that
// the job never gets to.
func (p *profile) byRule(t *testing.T, most int) []int {
	t.Helper()
	mode, err := job.ParseScheduleMode(p.Mode)
	if err != nil {
		t.Fatal(err)
	}
	first, limit := p.RLE[0][0], largest[p.Model]
	if mode == job.Accordion && p.Model == "Transformer" {
		limit = first // all of its epochs are critical
	}
	sizes, err := shockwave.RegimeSequence(&job.BatchSchedule{Mode: mode}, first, limit, most)
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range sizes {
		if _, ok := p.times[b]; !ok {
			p.times[b] = p.times[sizes[i-1]]
		}
	}
	return sizes
}
