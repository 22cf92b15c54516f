package budget

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxgang/oxgang/model/cluster"
	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/model/perf"
)

// Goodputs are measured speeds by application and number of GPUs, which replace the profiles.
type Goodputs struct {
	file      string
	speed     map[goodputKey]float64
	lastEpoch map[job.Class]int
	sizes     map[epochKey]float64
	epochSize map[job.Class]float64 // of equal epochs
	restart   map[job.Class]time.Duration
}

type goodputKey struct {
	class   job.Class
	epoch   int
	gpuType cluster.GPUType // empty: all types
	gpus    int
}

type epochKey struct {
	class job.Class
	epoch int
}

const (
	minSize    = 1e-9 // of an epoch
	mostNumber = 1e15
	mostRest   = 30 * 24 * 3600 // seconds of a restart
)

var (
	goodputColumn = []string{"goodput", "goodput_samples_per_s"}
	sizeColumn    = []string{"size", "dataset_size_samples", "delta_progress"}
	restartColumn = []string{"restart_s", "rescale_s"}
)

// ReadGoodputs reads two CSV tables. Table goodputs has the columns application, epoch (from 0), gpus, goodput (units
// of size per second) and optionally gpu_type. Table sizes has application, size, and optionally epoch (absent: all
// epochs are equal) and restart_s. file and sizesFile name the tables in errors.
func ReadGoodputs(goodputs, sizes io.Reader, file, sizesFile string) (*Goodputs, error) {
	g := &Goodputs{
		file: file, speed: map[goodputKey]float64{}, lastEpoch: map[job.Class]int{},
		sizes: map[epochKey]float64{}, epochSize: map[job.Class]float64{}, restart: map[job.Class]time.Duration{},
	}
	return g, errors.Join(eachLine(goodputs, file, g.goodput), eachLine(sizes, sizesFile, g.size))
}

func (g *Goodputs) goodput(r *csvRow) {
	k := goodputKey{class: job.Class(r.text("application")), epoch: r.epoch(), gpus: r.count(1, mostGPUs, "gpus")}
	if r.has("gpu_type") {
		k.gpuType = cluster.GPUType(r.text("gpu_type"))
	}
	if _, twice := g.speed[k]; twice {
		r.fail("%s, epoch %d, %d GPUs: listed twice", k.class, k.epoch, k.gpus)
	}
	g.speed[k] = r.number(0, mostNumber, goodputColumn...)
	g.lastEpoch[k.class] = max(g.lastEpoch[k.class], k.epoch)
}

func (g *Goodputs) size(r *csvRow) {
	class := job.Class(r.text("application"))
	size := r.number(minSize, mostNumber, sizeColumn...)
	if r.has("epoch") {
		k := epochKey{class, r.epoch()}
		if g.sizes[k] > 0 {
			r.fail("%s, epoch %d: listed twice", class, k.epoch)
		}
		g.sizes[k] = size
	} else {
		if g.epochSize[class] > 0 {
			r.fail("%s: listed twice, and the table has no column epoch", class)
		}
		g.epochSize[class] = size
	}
	if !r.has(restartColumn...) {
		return
	}
	rest := time.Duration(r.number(0, mostRest, restartColumn...) * float64(time.Second))
	if before, ok := g.restart[class]; ok && rest != before {
		r.fail("%s: restarts take %v, but %v in an earlier row; want one value", class, rest, before)
	}
	g.restart[class] = rest
}

// Measured replaces the speeds of every class by the measured speeds in g.
func (w *Workload) Measured(g *Goodputs) error {
	var errs []error
	for _, c := range w.Classes {
		errs = append(errs, g.setSpeeds(c))
	}
	return errors.Join(errs...)
}

func (g *Goodputs) setSpeeds(c *perf.ClassStats) error {
	last, ok := g.lastEpoch[c.Class]
	if !ok {
		return fmt.Errorf("%s: no measurement of class %q, which the workload has", g.file, c.Class)
	}
	class := c.Class
	c.Sizes = make([]float64, last+1)
	for e := range c.Sizes {
		if c.Sizes[e] = cmp.Or(g.sizes[epochKey{class, e}], g.epochSize[class]); c.Sizes[e] == 0 {
			return fmt.Errorf("%s: class %s, epoch %d: its size is missing, add a row to the table of sizes", g.file, class, e)
		}
	}
	if rest, ok := g.restart[class]; ok {
		c.Restart = rest
	}
	c.Speeds = perf.EpochSpeed(func(epoch int, at cluster.Configuration) float64 {
		if v, ok := g.speed[goodputKey{class, epoch, at.GPUType, at.GPUs}]; ok {
			return v
		}
		return g.speed[goodputKey{class, epoch, "", at.GPUs}]
	})
	return nil
}

type csvRow struct {
	file string
	line int
	head []string
	cell []string
	errs []error
}

func eachLine(r io.Reader, file string, take func(*csvRow)) error {
	read := csv.NewReader(r)
	head, err := read.Read()
	if err != nil {
		return fmt.Errorf("%s: no header: %w", file, err)
	}
	head[0] = strings.TrimPrefix(head[0], "\ufeff")
	row := &csvRow{file: file, head: trimmed(head)}
	for {
		cells, err := read.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		row.cell = trimmed(cells)
		row.line, _ = read.FieldPos(0)
		if take(row); len(row.errs) > 0 {
			return errors.Join(row.errs...)
		}
	}
}

func trimmed(cells []string) []string {
	for i, c := range cells {
		cells[i] = strings.TrimSpace(c)
	}
	return cells
}

func (r *csvRow) fail(format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf("%s:%d: "+format, append([]any{r.file, r.line}, args...)...))
}

func (r *csvRow) column(names []string) int {
	return slices.IndexFunc(r.head, func(h string) bool { return slices.Contains(names, h) })
}

func (r *csvRow) has(names ...string) bool { return r.column(names) >= 0 }

func (r *csvRow) text(name string) string {
	i := r.column([]string{name})
	switch {
	case i < 0:
		r.fail("no column %s", name)
		return ""
	case r.cell[i] == "":
		r.fail("%s is empty", name)
	}
	return r.cell[i]
}

func (r *csvRow) number(least, most float64, names ...string) float64 {
	i := r.column(names)
	if i < 0 {
		r.fail("no column %s", names[0])
		return 0
	}
	v, err := strconv.ParseFloat(r.cell[i], 64)
	if err != nil || !(v >= least && v <= most) {
		r.fail("%s %q, want a number from %g to %g", r.head[i], r.cell[i], least, most)
		return 0
	}
	return v
}

func (r *csvRow) count(least, most float64, name string) int {
	v := r.number(least, most, name)
	if v != math.Trunc(v) {
		r.fail("%s %g, want a whole number", name, v)
	}
	return int(v)
}

func (r *csvRow) epoch() int { return r.count(0, job.MaxEpochs-1, "epoch") }
