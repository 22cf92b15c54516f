package slurm

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/oxgang/oxgang/live/slurm/client"
	"github.com/oxgang/oxgang/model/cluster"
)

// Does describes in words what the scheduler would do with the job, such as "start on 4 a100 (n1:4)".
func (a *Advice) Does() string {
	has, gets := a.Job.Configuration, a.Gives.Configuration
	switch {
	case a.Barred != "":
		return "nothing"
	case a.Job.Waits() && gets.IsZero():
		return "wait at place " + strconv.Itoa(a.Place)
	case a.Job.Waits():
		return fmt.Sprintf("start on %d %s (%s)", gets.GPUs, gets.GPUType, Nodes(a.On))
	case a.Job.Part != client.Elastic || gets == has && a.On.Equal(a.Job.Placement):
		return "keep"
	case gets.IsZero():
		return fmt.Sprintf("stop, for now, on %d %s", has.GPUs, has.GPUType)
	case gets.GPUs > has.GPUs:
		return fmt.Sprintf("grow from %d to %d %s (%s)", has.GPUs, gets.GPUs, gets.GPUType, Nodes(a.On))
	case gets.GPUs < has.GPUs:
		return fmt.Sprintf("shrink from %d to %d %s (%s)", has.GPUs, gets.GPUs, gets.GPUType, Nodes(a.On))
	}
	return fmt.Sprintf("move to %d %s (%s)", gets.GPUs, gets.GPUType, Nodes(a.On))
}

// Because returns the reason as a clause.
func (a *Advice) Because() string {
	if a.Barred != "" {
		return "Slurm does not let it start: " + a.Barred
	}
	return a.Why.Text
}

// Nodes returns a placement such as "n1:4 n2:2".
func Nodes(p cluster.Placement) string {
	all := make([]string, len(p))
	for i, s := range p {
		all[i] = fmt.Sprintf("%s:%d", s.Node, s.GPUs)
	}
	return strings.Join(all, " ")
}
