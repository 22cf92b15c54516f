package metrics

import "slices"

type resultStore struct {
	parts [][]JobResult
	n     int
}

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

func (s *resultStore) all() []JobResult {
	list := make([]JobResult, 0, s.n)
	for i, part := range s.parts {
		list = append(list, part...)
		s.parts[i] = nil
	}
	*s = resultStore{}
	return list
}

func (s *resultStore) clone() resultStore {
	c := resultStore{slices.Clone(s.parts), s.n}
	if last := len(c.parts) - 1; last >= 0 {
		c.parts[last] = slices.Clip(c.parts[last])
	}
	return c
}
