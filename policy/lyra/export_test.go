package lyra

// Forget lets a policy read everything anew in its next round; what it decides must not change.
func Forget(p *Policy) {
	p.last, p.layout = nil, layout{}
}

// Resumed returns how many jobs of the last round were not read anew.
func Resumed(p *Policy) (n int) {
	for _, t := range p.last {
		if t.untouched && t.work == workUnknown {
			n++
		}
	}
	return n
}
