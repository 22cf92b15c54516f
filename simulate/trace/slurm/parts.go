package slurm

// joinParts joins the parts of heterogeneous jobs (7+0, 7+1), which start together. Parts on different GPU types
// remain separate jobs.
func (l *log) joinParts(jobs []uint32) []uint32 {
	joined := jobs[:0]
	begin := 0 // of the jobs with the same number
	for _, i := range jobs {
		r := l.runs.at(i)
		if len(joined) == 0 || !l.runs.at(joined[begin]).id.sameNumber(r.id) {
			begin = len(joined)
		}
		if r.id.part < heterogeneous || !l.joinPart(joined[begin:], r) {
			joined = append(joined, i)
		}
	}
	return joined
}

func (k key) sameNumber(other key) bool {
	return k.cluster == other.cluster && k.number == other.number
}

// joinPart adds a part to the first of these jobs that it belongs to, and reports whether there is one.
func (l *log) joinPart(jobs []uint32, part *run) bool {
	for _, i := range jobs {
		j := l.runs.at(i)
		a, b := l.asks.all[j.ask], l.asks.all[part.ask]
		switch {
		case j.submit > part.submit+rounding || part.submit > j.submit+rounding:
		case a.types != b.types && a.types != "" && b.types != "":
			l.notes.Note("parts of heterogeneous jobs on other GPU types than the first part, simulated as jobs of their own that may start at other times")
		default:
			l.notes.Note("parts of heterogeneous jobs, joined with the first part to one job")
			if a.types == "" {
				a.types = b.types
			}
			a.gpus, a.cpus, a.memory, a.had, a.nodes = a.gpus+b.gpus, a.cpus+b.cpus, a.memory+b.memory, a.had+b.had, a.nodes+b.nodes
			j.ask, j.elapsed, j.id.part = l.asks.keep(a, ask.clone), max(j.elapsed, part.elapsed), 0
			return true
		}
	}
	return false
}
