package profiles

import (
	"fmt"
	"io"

	"github.com/oxgang/oxgang/simulate/workload"
)

type validation struct {
	name     string
	batch    int       // total
	progress []float64 // iterations at the smallest batch size, ascending
	sqr, vnc []float64 // squared norm and variance of the gradient, relative to the smallest batch size
}

func (v *validation) read(r io.Reader, name string) error {
	before := 0.0
	return eachRow(r, name, []string{"progress", "grad_sqr", "grad_var"}, func(at row) error {
		progress, err := at.positive("progress")
		if err != nil {
			return err
		}
		if progress <= before {
			return at.bad("progress", fmt.Sprintf("more than in the row before, %g", before))
		}
		sqr, err := at.notNegative("grad_sqr")
		if err != nil {
			return err
		}
		vnc, err := at.notNegative("grad_var")
		if err != nil {
			return err
		}
		if sqr == 0 && vnc == 0 {
			return at.bad("grad_var", "more than 0 where grad_sqr is 0")
		}
		before = progress
		v.progress, v.sqr, v.vnc = append(v.progress, progress), append(v.sqr, sqr), append(v.vnc, vnc)
		return nil
	})
}

type measuredCurve struct{ runs []validation }

func (c *measuredCurve) check() error {
	first := &c.runs[0]
	for i := range c.runs {
		v := &c.runs[i]
		if i > 0 && v.batch == c.runs[i-1].batch {
			return fmt.Errorf("%s: batch size %d is there twice, as %s", v.name, v.batch, c.runs[i-1].name)
		}
		if len(v.progress) != len(first.progress) {
			return fmt.Errorf("%s: %d epochs, want %d as in %s", v.name, len(v.progress), len(first.progress), first.name)
		}
	}
	return nil
}

// end returns the progress at the end of an epoch, in iterations at the smallest batch size: the least
// of all runs. Source: Sia simulator.
func (c *measuredCurve) end(epoch int) float64 {
	least := c.runs[0].progress[epoch]
	for i := range c.runs {
		least = min(least, c.runs[i].progress[epoch])
	}
	return least
}

// referred returns the curve with progress in samples at the efficiency of batch size init, and
// gradients relative to it.
//
// The variance is inversely proportional to the reference batch, so the noise scale in samples stays.
// The worth of a sample changes by (phi + init) / (phi + smallest), with phi as measured at init.
// Source: Sia §2.1, Eq. 2.3.
func (c *measuredCurve) referred(init int) *workload.Curve {
	smallest := float64(c.runs[0].batch)
	ratio := smallest / float64(init)
	out := &workload.Curve{}
	for i := range c.runs {
		v := &c.runs[i]
		vnc := make([]float64, len(v.vnc))
		for e := range vnc {
			vnc[e] = v.vnc[e] * ratio
		}
		out.Batches, out.Sqr, out.Var = append(out.Batches, float64(v.batch)), append(out.Sqr, v.sqr), append(out.Var, vnc)
	}
	total, before := 0.0, 0.0
	for e := range c.runs[0].progress {
		sqr, vnc := out.Gradient(e, float64(init))
		worth := float64(init) * (vnc + sqr) / (float64(init)*vnc + smallest*sqr) // phi = init·vnc/sqr
		total += (c.end(e) - before) * smallest * worth
		before = c.end(e)
		out.Ends = append(out.Ends, total)
	}
	return out
}
