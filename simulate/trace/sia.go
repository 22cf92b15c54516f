package trace

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/model/job"
	"github.com/oxgang/oxgang/simulate/trace/parse"
	"github.com/oxgang/oxgang/simulate/workload"
)

// siaTable reads traces of the Sia and Pollux simulators. A column "category" has the adaptivity; without it
// all jobs are adaptive.
var siaTable = parse.Table{
	Format:   "sia",
	Comma:    ',',
	Required: []string{"name", "time", "application", "num_replicas", "batch_size"},
	ID:       "name",
	Arrival:  siaArrival,
}

var siaCategories = []struct {
	name       string
	adaptivity job.Adaptivity
}{
	{"adaptive", job.Adaptive},
	{"scale-gpus", job.StrongScaling},
	{"rigid", job.Rigid},
}

func siaArrival(r *parse.Row) (workload.Arrival, string) {
	a := workload.Arrival{At: r.Seconds("time"), Application: r.Word("application")}
	if a.Application == "" {
		r.Fail("application", "a name")
	}
	a.Spec = job.Spec{
		ID:         job.ID(r.ID("name")),
		GPUs:       r.Count("num_replicas", 1, parse.MaxCount),
		BatchSize:  r.Count("batch_size", 1, parse.MaxSamples),
		Adaptivity: job.Adaptive,
	}
	if c := r.Raw("category"); c != "" {
		a.Spec.Adaptivity = siaAdaptivity(r, c)
	}
	return a, ""
}

func siaAdaptivity(r *parse.Row, category string) job.Adaptivity {
	for _, c := range siaCategories {
		if c.name == category {
			return c.adaptivity
		}
	}
	r.Fail("category", "adaptive, scale-gpus or rigid")
	return job.Adaptive
}

func writeSia(w io.Writer, seq iter.Seq2[workload.Arrival, error]) error {
	b := bufio.NewWriter(w)
	b.WriteString("name,time,application,num_replicas,batch_size,category\n") // kept by Flush
	for a, err := range seq {
		if err != nil {
			return err
		}
		category, err := siaCategory(&a)
		if err != nil {
			return fmt.Errorf("write sia trace: job %s: %w", a.Spec.ID, err)
		}
		b.WriteString(csvField(string(a.Spec.ID)) + "," + parse.FormatSeconds(a.At) + "," + csvField(a.Application) + "," +
			strconv.Itoa(a.Spec.GPUs) + "," + strconv.Itoa(a.Spec.BatchSize) + "," + category + "\n")
	}
	return b.Flush()
}

func siaCategory(a *workload.Arrival) (string, error) {
	if err := parse.Check(a); err != nil {
		return "", err
	}
	switch {
	case a.Application == "":
		return "", errors.New("no application, which the format needs")
	case a.Spec.BatchSize < 1:
		return "", fmt.Errorf("batch size %d, want at least 1", a.Spec.BatchSize)
	case strings.ContainsAny(string(a.Spec.ID)+a.Application, "\r\n"):
		return "", errors.New("line break in its name or application")
	}
	for _, c := range siaCategories {
		if c.adaptivity == a.Spec.Adaptivity {
			return c.name, nil
		}
	}
	return "", fmt.Errorf("adaptivity %03b has no category", a.Spec.Adaptivity)
}

func csvField(s string) string {
	if strings.ContainsAny(s, `",`) {
		return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
	}
	return s
}
