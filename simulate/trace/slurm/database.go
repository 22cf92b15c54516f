package slurm

import (
	"slices"
	"strconv"
	"strings"
)

// databaseNames are the columns of the job table of Slurm's database, by the names that sacct gives them. MIT Supercloud
// publishes such a table, slurm-log.csv.
var databaseNames = map[string]string{
	"id_job": "jobid", "job_name": "jobname", "id_user": "user", "nodes_alloc": "nnodes", "timelimit": "timelimitraw",
	"time_submit": "submit", "time_eligible": "eligible", "time_start": "start", "time_end": "end",
	"tres_req": "reqtres", "tres_alloc": "alloctres",
}

func headerNames(first string, comma byte) []string {
	names := strings.Split(strings.ToLower(first), string(comma))
	for i, n := range names {
		names[i] = strings.TrimSpace(strings.Trim(strings.TrimSpace(n), `"`))
	}
	if !slices.Contains(names, "id_job") {
		return names
	}
	for i, n := range names {
		if sacct, ok := databaseNames[n]; ok {
			names[i] = sacct
		}
	}
	return names
}

// states are the codes of the database. Source: slurm.h, enum job_states.
var states = []string{
	"PENDING", "RUNNING", "SUSPENDED", "COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED",
	"BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY",
}

func stateName(text string) string {
	if n, err := strconv.Atoi(text); err == nil && n >= 0 && n < len(states) {
		return states[n]
	}
	return text
}

// Limits of the database that mean no limit. Source: slurm.h, INFINITE and NO_VAL.
const (
	infinite = "4294967295"
	noValue  = "4294967294"
)

// tresName returns the name of a numbered resource. The names of 1001 and 1002 are MIT Supercloud's; each site numbers
// its GPUs in its own way. An empty name is a resource that needs no name, and ok is false if it may be GPUs.
func tresName(number string) (name string, ok bool) {
	switch number {
	case "1":
		return "cpu", true
	case "2":
		return "mem", true
	case "4":
		return "node", true
	case "1001":
		return "gres/gpu:tesla", true
	case "1002":
		return "gres/gpu:volta", true
	}
	n, err := strconv.Atoi(number)
	return "", err == nil && n <= 1000
}

// named returns a list of numbered resources, such as "1=40,4=1,1002=2", with names. Other lists stay. It returns what
// was wanted if the list does not state which resources are GPUs.
func named(text string) (list, want string) {
	if text == "" || text[0] < '0' || text[0] > '9' {
		return text, ""
	}
	var items, gpus []string
	for item := range strings.SplitSeq(text, ",") {
		number, value, _ := strings.Cut(item, "=")
		name, ok := tresName(strings.TrimSpace(number))
		switch {
		case !ok:
			return "", "numbers of resources up to 1000, or 1001 and 1002 (GPUs of MIT Supercloud): " + number + " may be GPUs or not" + refused
		case name == "" || value == "":
			continue
		case number == "1001" || number == "1002":
			gpus = append(gpus, value)
		}
		items = append(items, name+"="+value)
	}
	if len(gpus) > 1 && gpus[0] != "0" && gpus[1] != "0" {
		return "", "resource 1001 or 1002, not both, because the second may be a part of the first" + refused
	}
	return strings.Join(items, ","), ""
}
