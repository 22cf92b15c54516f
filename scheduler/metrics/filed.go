package metrics

import "slices"

// A filed is results of jobs in parts, none of which is ever moved: a list that grows as a whole is copied many
// times. The zero value is empty.
type filed struct {
	parts [][]JobResult
	n     int
}

// mostInPart bounds a part; smaller ones are as large as all before them.
const mostInPart = 8192

// add files a result and returns where it is.
func (f *filed) add(j JobResult) *JobResult {
	last := len(f.parts) - 1
	if last < 0 || len(f.parts[last]) == cap(f.parts[last]) {
		f.parts = append(f.parts, make([]JobResult, 0, min(mostInPart, max(16, f.n))))
		last++
	}
	f.parts[last] = append(f.parts[last], j)
	f.n++
	return &f.parts[last][len(f.parts[last])-1]
}

// all returns the results as one list, in the order in which they were filed; not nil. f is empty afterwards, so that no result is
// kept twice for long.
func (f *filed) all() []JobResult {
	list := make([]JobResult, 0, f.n)
	for i, part := range f.parts {
		list = append(list, part...)
		f.parts[i] = nil
	}
	*f = filed{}
	return list
}

// clone returns what can be added to without a trace in f.
func (f *filed) clone() filed {
	c := filed{slices.Clone(f.parts), f.n}
	if last := len(c.parts) - 1; last >= 0 {
		c.parts[last] = slices.Clip(c.parts[last]) // adding begins another part
	}
	return c
}
