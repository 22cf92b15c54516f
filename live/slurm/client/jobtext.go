package client

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// parseJobsText parses the output of scontrol -o show job. Errors are ErrMalformed.
func parseJobsText(text []byte) ([]Job, error) {
	all, err := records(text, "JobId", []string{"UserId", "Priority", "JobState", "Partition", "SubmitTime", "NumNodes", "StdOut"}, repeated)
	if err != nil {
		return nil, err
	}
	return ordered(convert(all, (*record).job))
}

func (r *record) job() (Job, error) {
	c := checker{r.ordered()}
	user, _, _ := strings.Cut(r.get("UserId"), "(")
	j := Job{
		ID:  ID(c.integer(c.field(r, "JobId"), "JobId", 1, math.MaxUint32)),
		Het: ID(c.integer(c.field(r, "HetJobId"), "HetJobId", 0, math.MaxUint32)), HetOffset: c.count(c.field(r, "HetJobOffset"), "HetJobOffset"),
		Array: ID(c.integer(c.field(r, "ArrayJobId"), "ArrayJobId", 0, math.MaxUint32)),
		Name:  r.fields["JobName"], User: user, Account: r.get("Account"), Partition: r.get("Partition"), QOS: r.get("QOS"),
		Comment: r.get("Comment"), AdminComment: r.get("AdminComment"),
		Dependency: r.get("Dependency"), Reason: r.fields["Reason"], Requeue: r.get("Requeue") == "1",
		Priority: uint32(c.integer(c.field(r, "Priority"), "Priority", 0, math.MaxUint32)),
		Nice:     c.signed(r, "Nice"),
		Restarts: c.count(c.field(r, "Restarts"), "Restarts"),
		Submit:   c.at(c.field(r, "SubmitTime"), "SubmitTime"), Eligible: c.at(c.field(r, "EligibleTime"), "EligibleTime"),
		Start: c.at(c.field(r, "StartTime"), "StartTime"), End: c.at(c.field(r, "EndTime"), "EndTime"),
		Limit: c.span(r, "TimeLimit"), Unlimited: r.get("TimeLimit") == "UNLIMITED",
		Nodes: c.nodes(r.get("NodeList")), Needed: c.count(c.field(r, "NumNodes"), "NumNodes"),
		ReqNodes: c.nodes(r.get("ReqNodeList")), Excluded: c.nodes(r.get("ExcNodeList")),
		CPUs: c.count(c.field(r, "NumCPUs"), "NumCPUs"), NumTasks: c.count(c.field(r, "NumTasks"), "NumTasks"),
		PerNode: c.gpus(r.get("TresPerNode")),
	}
	if tasks := r.get("ArrayTaskId"); digits(tasks) {
		j.Task = atoi(tasks)
	} else {
		j.Tasks = tasks
	}
	j.setState(strings.Split(r.get("JobState"), ","), nil)
	tres := r.get("TRES")
	if now := r.get("AllocTRES"); now != "" && !j.Waits() { // from 23.02, both are present
		tres = now
	} else if tres == "" {
		tres = r.get("ReqTRES")
	}
	j.setAmounts(&c, amounts{tres: tres, perJob: r.get("TresPerJob"), perTask: r.get("TresPerTask")})
	j.setHeldText(&c, r.parts)
	j.ExitCode, j.Signal = exitOf(r.get("ExitCode"))
	return j, c.of("job", r.get("JobId"))
}

// ordered detects text that looks like another field: Slurm prints the user right after the name (except for
// HetJobIdSet), and no held resources after the script.
func (r *record) ordered() error {
	name, user, script := slices.Index(r.names, "JobName"), slices.Index(r.names, "UserId"), slices.Index(r.names, "Command")
	for i, f := range r.names {
		between := i > name && i < user && f != "HetJobIdSet"
		if between || script >= 0 && i > script && slices.Contains(repeated, f) {
			return fmt.Errorf("%w: line %d: %s where Slurm has another field; a name or path may contain it", ErrMalformed, r.line, f)
		}
	}
	return nil
}

var repeated = []string{"Nodes", "CPU_IDs", "Mem", "GRES"}

func (j *Job) setHeldText(c *checker, parts [][2]string) {
	if !j.Holds() {
		return
	}
	var nodes []string
	for _, p := range parts {
		switch p[0] {
		case "Nodes":
			nodes = c.nodes(p[1])
		case "GRES":
			for _, n := range nodes {
				j.addHeld(c.held(n, p[1]))
			}
		}
	}
	slices.SortFunc(j.HeldGPUs, func(a, b Held) int { return strings.Compare(a.Node, b.Node) })
}

func (c *checker) signed(r *record, name string) int {
	v, minus := strings.CutPrefix(r.get(name), "-")
	if v == "" {
		return 0
	}
	if !digits(v) || len(v) > 10 {
		c.keep(fmt.Errorf("%w: line %d: %s %q, want a whole number", ErrMalformed, r.line, name, v))
		return 0
	}
	if minus {
		return -atoi(v)
	}
	return atoi(v)
}

func exitOf(text string) (code, signal int) {
	c, s, ok := strings.Cut(text, ":")
	if !ok || !digits(c) || !digits(s) {
		return 0, 0
	}
	return atoi(c), atoi(s)
}

func digits(s string) bool {
	return s != "" && len(s) <= 10 && strings.Trim(s, "0123456789") == ""
}
