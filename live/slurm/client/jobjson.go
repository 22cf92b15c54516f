package client

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

type jsonJob struct {
	ID         number `json:"job_id"`
	Array      number `json:"array_job_id"`
	Task       number `json:"array_task_id"`
	Tasks      string `json:"array_task_string"`
	Het        number `json:"het_job_id"`
	HetOffset  number `json:"het_job_offset"`
	Name       string `json:"name"`
	User       string `json:"user_name"`
	Account    string `json:"account"`
	Partition  string `json:"partition"`
	QOS        string `json:"qos"`
	Comment    string `json:"comment"`
	Admin      string `json:"admin_comment"`
	Dependency string `json:"dependency"`
	State      texts  `json:"job_state"`
	Flags      texts  `json:"flags"`
	Reason     string `json:"state_reason"`
	Priority   number `json:"priority"`
	Nice       number `json:"nice"`
	Restarts   number `json:"restart_cnt"`
	Requeue    bool   `json:"requeue"`
	Submit     number `json:"submit_time"`
	Eligible   number `json:"eligible_time"`
	Start      number `json:"start_time"`
	End        number `json:"end_time"`
	Limit      number `json:"time_limit"`
	Nodes      string `json:"nodes"`
	Needed     number `json:"node_count"`
	ReqNodes   string `json:"required_nodes"`
	Excluded   string `json:"excluded_nodes"`
	CPUs       number `json:"cpus"`
	NumTasks   number `json:"tasks"`
	Wanted     string `json:"tres_req_str"`
	Allocated  string `json:"tres_alloc_str"`
	PerNode    string `json:"tres_per_node"`
	PerJob     string `json:"tres_per_job"`
	PerTask    string `json:"tres_per_task"`
	Detail     texts  `json:"gres_detail"`
	Exit       exit   `json:"exit_code"`
}

// ParseJobs parses the output of squeue --json. Errors are ErrVersion or ErrMalformed.
func ParseJobs(text []byte) ([]Job, error) {
	all, err := decode(text, func(d *document[jsonJob]) *[]jsonJob { return d.Jobs })
	if err != nil {
		return nil, err
	}
	return ordered(convert(all, (*jsonJob).job))
}

func ordered(jobs []Job, err error) ([]Job, error) {
	if err != nil {
		return nil, err
	}
	slices.SortFunc(jobs, func(a, b Job) int { return int(int64(a.ID) - int64(b.ID)) })
	for i := 1; i < len(jobs); i++ {
		if jobs[i].ID == jobs[i-1].ID {
			return nil, fmt.Errorf("%w: two jobs of number %v", ErrMalformed, jobs[i].ID)
		}
	}
	return jobs, nil
}

func (s *jsonJob) job() (Job, error) {
	var c checker
	j := Job{
		ID:    ID(c.integer(s.ID, "job_id", 1, math.MaxUint32)),
		Array: ID(c.integer(s.Array, "array_job_id", 0, math.MaxUint32)),
		Task:  c.count(s.Task, "array_task_id"), Tasks: s.Tasks,
		Het: ID(c.integer(s.Het, "het_job_id", 0, math.MaxUint32)), HetOffset: c.count(s.HetOffset, "het_job_offset"),
		Name: s.Name, User: s.User, Account: s.Account, Partition: s.Partition, QOS: s.QOS,
		Comment: s.Comment, AdminComment: s.Admin, Dependency: s.Dependency,
		Reason: s.Reason, Requeue: s.Requeue,
		Priority: uint32(c.integer(s.Priority, "priority", 0, math.MaxUint32)),
		Nice:     int(int32(c.integer(s.Nice, "nice", math.MinInt32, math.MaxUint32))), // Slurm 22.05 prints -1 as 4294967295
		Restarts: c.count(s.Restarts, "restart_cnt"),
		Submit:   c.at(s.Submit, "submit_time"), Eligible: c.at(s.Eligible, "eligible_time"),
		Start: c.at(s.Start, "start_time"), End: c.at(s.End, "end_time"),
		Limit:     time.Duration(c.integer(s.Limit, "time_limit in minutes", 0, mostMinutes)) * time.Minute,
		Unlimited: !s.Limit.set,
		Nodes:     c.nodes(s.Nodes), Needed: c.count(s.Needed, "node_count"),
		ReqNodes: c.nodes(s.ReqNodes), Excluded: c.nodes(s.Excluded),
		CPUs: c.count(s.CPUs, "cpus"), NumTasks: c.count(s.NumTasks, "tasks"), ExitCode: s.Exit.code, Signal: s.Exit.signal,
		PerNode: c.gpus(s.PerNode),
	}
	j.setState(s.State, s.Flags)
	tres := s.Wanted
	if s.Allocated != "" && !j.Waits() {
		tres = s.Allocated
	}
	j.setAmounts(&c, amounts{tres: tres, perJob: s.PerJob, perTask: s.PerTask})
	j.setHeld(&c, s.Detail)
	if c.err == nil && j.State == "" {
		c.err = fmt.Errorf("%w: no job_state", ErrMalformed)
	}
	return j, c.of("job", fmt.Sprint(s.ID.value))
}

// setState separates states from flags. Slurm may print only a flag, or print it first.
func (j *Job) setState(states, flags []string) {
	for _, s := range upper(states) {
		if base, is := stateOf[s]; is {
			j.Flags = append(j.Flags, s)
			if j.State == "" {
				j.State = base
			}
		} else {
			j.State = State(s)
		}
	}
	j.Flags = append(j.Flags, upper(flags)...)
}

var stateOf = map[string]State{
	"COMPLETING": "COMPLETING", "CONFIGURING": Running, "RESIZING": Running, "SIGNALING": Running, "STOPPED": suspended,
	"STAGE_OUT": "COMPLETING", "REQUEUED": Pending, "REQUEUE_HOLD": Pending, "REQUEUE_FED": Pending, "SPECIAL_EXIT": Pending,
	"POWER_UP_NODE": Running, "REVOKED": "REVOKED", "LAUNCH_FAILED": "LAUNCH_FAILED", "RECONFIG_FAIL": "RECONFIG_FAIL", "EXPEDITING": Pending,
}

type amounts struct{ tres, perJob, perTask string }

// setAmounts sets GPUs and memory. If Slurm does not account for GPUs, only the request has them.
func (j *Job) setAmounts(c *checker, a amounts) {
	j.GPUs = c.gpus(a.tres)
	perJob, perTask := c.gpus(a.perJob), c.gpus(a.perTask)
	switch {
	case j.GPUs != nil:
	case perJob != nil:
		j.GPUs = perJob
	case j.PerNode != nil:
		j.GPUs = j.PerNode.times(max(j.Needed, 1))
	case perTask != nil:
		j.GPUs = perTask.times(max(j.NumTasks, 1))
	}
	memory, err := tresMemory(a.tres)
	c.keep(err)
	j.Memory = memory
}

func (g GPUs) times(n int) GPUs {
	all := GPUs{}
	for kind, of := range g {
		all[kind] = of * n
	}
	return all
}

func (j *Job) setHeld(c *checker, detail []string) {
	if len(detail) != len(j.Nodes) || !j.Holds() {
		return
	}
	for i, list := range detail {
		j.addHeld(c.held(j.Nodes[i], list))
	}
}

func (j *Job) addHeld(h Held) {
	if h.GPUs != nil {
		j.HeldGPUs = append(j.HeldGPUs, h)
	}
}

func (c *checker) held(node, list string) Held {
	h := Held{Node: node, GPUs: c.gpus(list)}
	for rest := list; ; {
		_, after, found := strings.Cut(rest, "(IDX:")
		if !found {
			return h
		}
		within, tail, _ := strings.Cut(after, ")")
		if rest = tail; within == "N/A" {
			continue
		}
		names, err := nodenames("[" + within + "]")
		c.keep(err)
		for _, n := range names {
			h.Indices = append(h.Indices, atoi(n))
		}
	}
}

type exit struct{ code, signal int }

func (e *exit) UnmarshalJSON(text []byte) error {
	var parts struct {
		Code   *number `json:"return_code"`
		Signal struct {
			ID number `json:"id"`
		} `json:"signal"`
	}
	*e = exit{}
	if len(text) > 0 && text[0] == '{' {
		if err := json.Unmarshal(text, &parts); err != nil {
			return err
		}
		if parts.Code != nil {
			e.code, e.signal = int(parts.Code.value), int(parts.Signal.ID.value)
			return nil
		}
	}
	var status number
	err := json.Unmarshal(text, &status)
	e.code, e.signal = int(status.value)>>8&0xff, int(status.value)&0x7f
	return err
}
