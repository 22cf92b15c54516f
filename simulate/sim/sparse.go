package sim

import "time"

// report measures, learns, reports and tunes. It omits this if it would repeat a report from which nothing
// was learned (Options.Sparse), unless gradients, noise or shared estimates could differ.
func (g *agent) report(w *World) {
	if g.repeats {
		g.measured = w.now
		return
	}
	taught := g.measure(w)
	g.tune()
	g.repeats = w.o.Sparse && !taught && g.noise == nil && g.app.Curve == nil && !w.o.Estimate.Share
}

func (w *World) due(after time.Time) time.Time {
	return Epoch.Add(after.Sub(Epoch).Truncate(w.o.ReportInterval) + w.o.ReportInterval)
}

// catchUp adds the progress of omitted reports one by one, for the same rounding.
func (g *agent) catchUp(w *World) {
	if !g.repeats || w.o.Public.ExitOnRound {
		return
	}
	due := w.due(g.at)
	if due.After(w.now) {
		return
	}
	g.advance(w, due)
	more := int(w.now.Sub(due) / w.o.ReportInterval)
	if w.o.Checkpoint > 0 {
		for ; more > 0; more-- {
			g.advance(w, g.at.Add(w.o.ReportInterval))
		}
	}
	each := g.rate * w.o.ReportInterval.Seconds()
	for range more {
		g.progress += each
	}
	g.at = g.at.Add(time.Duration(more) * w.o.ReportInterval)
	g.measured = g.at
}

func (g *agent) skip(w *World, end float64) (at time.Time, progress float64) {
	due := w.due(g.at)
	first, each := due.Sub(g.at).Seconds(), w.o.ReportInterval.Seconds()
	if !(max(0, end-g.progress)/g.rate > first) {
		return g.at, g.progress
	}
	progress = g.progress + g.rate*first
	reports := 0
	for more := g.rate * each; max(0, end-progress)/g.rate > each; reports++ {
		progress += more
	}
	return due.Add(time.Duration(reports) * w.o.ReportInterval), progress
}
