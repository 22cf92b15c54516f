package explain

import (
	"fmt"
	"math"
	"strconv"

	"github.com/oxgang/oxgang/model/cluster"
)

// apart returns two numbers with as many digits as they need to differ, at least three. same: they agree in
// nine digits, the precision of solvers.
func apart(a, b float64) (x, y string, same bool) {
	for digits := 3; digits <= 9; digits++ {
		x, y = strconv.FormatFloat(a, 'g', digits, 64), strconv.FormatFloat(b, 'g', digits, 64)
		if x != y && math.Abs(a-b) > 1e-9 {
			return x, y, false
		}
	}
	return number(a), number(a), true
}

func grew(s *explainContext) string {
	if before := s.why.Config; before.GPUs > 0 && s.holds != before && s.holds.GPUs == before.GPUs && s.holds.GPUType == before.GPUType {
		return moved(s) // journals of older versions have the kind Grown for some moves
	}
	if s.why.Value == 0 && s.why.Limit == 0 {
		return s.scheduler() + " has more GPUs for it"
	}
	if text, ok := gained(s, "more GPUs make"); ok {
		return text
	}
	return "more GPUs for it are better for all jobs together" + outcome(s)
}

func moved(s *explainContext) string {
	verb, fewer := "another GPU type makes", fewerGPUs(s)
	switch {
	case fewer:
		verb = "fewer GPUs make"
	case s.holds.GPUType == s.why.Config.GPUType:
		verb = "other nodes make"
	}
	if text, ok := gained(s, verb); ok {
		return text
	}
	if fewer && s.why.Limit > 0 {
		return "fewer GPUs are as good for it"
	}
	if _, ok := cheaper(s); ok {
		return "other jobs gain more from the GPUs that it leaves" + outcome(s)
	}
	return "its move is better for all jobs together" + outcome(s)
}

func movedDetails(s *explainContext) string {
	_, faster := gained(s, "")
	if times, ok := cheaper(s); ok && !faster && !(fewerGPUs(s) && s.why.Limit > 0) {
		return "its previous GPUs cost " + times + " times as much as its present ones at today's prices"
	}
	return ""
}

func fewerGPUs(s *explainContext) bool {
	return s.holds.GPUType == s.why.Config.GPUType && s.holds.GPUs < s.why.Config.GPUs
}

func cheaper(s *explainContext) (times string, ok bool) {
	was, before := s.cost(s.why.Config)
	is, after := s.cost(s.holds)
	if _, _, same := apart(was, is); !before || !after || same || was <= is || is <= 0 {
		return "", false
	}
	return ratio(was, is), true
}

func gained(s *explainContext, verb string) (text string, ok bool) {
	_, _, same := apart(s.why.Limit, s.why.Value)
	if same || s.why.Value < s.why.Limit || s.why.Limit <= 0 {
		return "", false
	}
	return verb + " it " + ratio(s.why.Value, s.why.Limit) + " times as fast", true
}

func outcome(s *explainContext) string {
	switch _, _, same := apart(s.why.Limit, s.why.Value); {
	case s.why.Limit <= 0:
		return ""
	case same:
		return ", and it is as fast as before"
	default:
		return fmt.Sprintf(", and it is %.2g %% slower than before", 100*(1-s.why.Value/s.why.Limit))
	}
}

func (s *explainContext) cost(c cluster.Configuration) (cost float64, known bool) {
	t := s.typeOf(c.GPUType)
	if t == nil || t.Price == nil || t.CPU > 0 || t.Memory > 0 {
		return 0, false
	}
	return *t.Price * float64(c.GPUs), true
}

func ratio(a, b float64) string {
	_, times, _ := apart(1, a/b)
	return times
}

func shrank(s *explainContext) string {
	_, _, same := apart(s.why.Value, s.why.Limit)
	taken := "the GPUs that were taken from it"
	if s.lost.AllGPUs()-s.holds.GPUs == 1 {
		taken = "the GPU that was taken from it"
	}
	switch {
	case s.why.Limit > 0 && same:
		return "other jobs gain as much from " + taken
	case s.why.Limit > 0 && s.why.Value <= 0:
		return "it gained nothing from " + taken + ", and other jobs do"
	}
	return "other jobs gain more from " + taken
}

func shrankDetails(s *explainContext) string {
	if _, _, same := apart(s.why.Value, s.why.Limit); same || s.why.Limit <= 0 || s.why.Value <= 0 {
		return ""
	}
	return "its GPUs are worth " + ratio(s.why.Limit, s.why.Value) + " times as much to other jobs"
}

func restartDetails(s *explainContext) string {
	x, y, same := apart(s.why.Value, s.why.Limit)
	better := amount(s.why.Config) + " would be " + x + " times as good, and a restart pays only from "
	if same {
		return better + "more"
	}
	return better + y + " times"
}

const keepsGPUs = "it keeps its GPUs, as planned"

func planned(s *explainContext) string {
	if _, _, same := apart(s.why.Value, s.why.Limit); same || s.why.Limit <= 0 {
		return keepsGPUs
	}
	free, known := s.freeOf(s.why.Config)
	if s.holds.GPUType == s.why.Config.GPUType {
		free += s.holds.GPUs
	}
	lack := "are not free"
	if known && free >= s.why.Config.GPUs {
		lack = "were not free in the last round"
	}
	return fmt.Sprintf("%s; %s would make it faster, but %s", keepsGPUs, amount(s.why.Config), lack)
}

func plannedDetails(s *explainContext) string {
	x, y, same := apart(s.why.Value, s.why.Limit)
	if same || s.why.Limit <= 0 {
		return speed(s)
	}
	return fmt.Sprintf("it is %s times as fast as with the fewest GPUs of its slowest type; with %s, which are worth their price, it would be %s times as fast", x, amount(s.why.Config), y)
}
