package metrics

import "slices"

// A resultStore collects job results in parts that never move, as growing one slice would copy them many times. The
// zero value is empty.
type resultStore struct {
	parts [][]JobResult
	n     int
}

// mostInPart bounds a part. Below it, each part is as large as all parts before it together.
const mostInPart = 8192

func (s *resultStore) add(j JobResult) *JobResult {
	last := len(s.parts) - 1
	if last < 0 || len(s.parts[last]) == cap(s.parts[last]) {
		s.parts = append(s.parts, make([]JobResult, 0, min(mostInPart, max(16, s.n))))
		last++
	}
	s.parts[last] = append(s.parts[last], j)
	s.n++
	return &s.parts[last][len(s.parts[last])-1]
}

// all returns the results in the order of add, never nil, and empties s, so that results are not held twice for long.
func (s *resultStore) all() []JobResult {
	list := make([]JobResult, 0, s.n)
	for i, part := range s.parts {
		list = append(list, part...)
		s.parts[i] = nil
	}
	*s = resultStore{}
	return list
}

// clone returns a copy whose changes do not affect s.
func (s *resultStore) clone() resultStore {
	c := resultStore{slices.Clone(s.parts), s.n}
	if last := len(c.parts) - 1; last >= 0 {
		c.parts[last] = slices.Clip(c.parts[last]) // the next add begins another part
	}
	return c
}
