package sim

import "time"

// report is what an agent does when a report is due: it measures, learns, reports, and chooses its batch size. It does none
// of this if the report would be like the last one, which taught nothing (Options.Sparse): gradients change with the epoch, noise with each
// report, and of what jobs learn together others may have learned more.
func (g *agent) report(w *World) {
	if g.repeats {
		g.measured = w.now
		return
	}
	taught := g.measure(w)
	g.tune()
	g.repeats = w.o.Sparse && !taught && g.noise == nil && g.app.Curve == nil && !w.o.Estimate.Share
}

// due returns when the first report after a time is due: at a multiple of the report interval since Epoch.
func (w *World) due(after time.Time) time.Time {
	return Epoch.Add(after.Sub(Epoch).Truncate(w.o.ReportInterval) + w.o.ReportInterval)
}

// catchUp adds the progress up to now report by report, although the reports were left out: the sum is rounded as if they had
// been made.
func (g *agent) catchUp(w *World) {
	if !g.repeats || w.o.Public.ExitOnRound {
		return
	}
	for at := w.due(g.at); !at.After(w.now); at = at.Add(w.o.ReportInterval) {
		g.advance(w, at)
		g.measured = at
	}
}

// skip returns the time of the last report before the epoch ends at a progress, and the progress then, of an agent whose
// reports are left out.
func (g *agent) skip(w *World, end float64) (at time.Time, progress float64) {
	at, progress = g.at, g.progress
	for due := w.due(at); max(0, end-progress)/g.rate > due.Sub(at).Seconds(); due = due.Add(w.o.ReportInterval) {
		progress += g.rate * due.Sub(at).Seconds()
		at = due
	}
	return at, progress
}
