//go:build linux

package slurmtest

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"syscall"
)

const nullDevice = 1<<8 | 3

func (r *Rig) writeFiles(context.Context) error {
	if err := os.Chmod(r.Folder, 0o755); err != nil { // others use munged's socket
		return err
	}
	for name, mode := range map[string]os.FileMode{"run": 0o755, "log": 0o755, "gpu": 0o755, "work": 0o755, "state": 0o700, "munge": 0o700, "db": 0o755} {
		if err := os.Mkdir(r.path(name), mode); err != nil {
			return err
		}
	}
	if err := os.Chmod(r.path("work"), 0o1777); err != nil { //nolint:gosec // users submit from there
		return err
	}
	key := make([]byte, 128)
	rand.Read(key) // it never fails
	for name, text := range map[string]string{
		"munge/key": string(key), "slurmdbd.conf": r.slurmdbdConf(), "slurm.conf": r.slurmConf(), "gres.conf": r.gresConf(),
	} {
		mode := os.FileMode(0o644)
		if name == "munge/key" || name == "slurmdbd.conf" {
			mode = 0o600
		}
		if err := os.WriteFile(r.path(name), []byte(text), mode); err != nil {
			return err
		}
	}
	return r.makeGPUs()
}

func (r *Rig) makeGPUs() error {
	for i := range r.mostGPUs() {
		if err := syscall.Mknod(r.path("gpu", fmt.Sprintf("gpu%d", i)), syscall.S_IFCHR|0o666, nullDevice); err != nil {
			return fmt.Errorf("device file of a GPU: %w", err)
		}
	}
	return nil
}

func (r *Rig) mostGPUs() int {
	most := 0
	for i := range r.options.Groups {
		most = max(most, r.options.Groups[i].GPUs)
	}
	return most
}

func (r *Rig) munge() string { return "socket=" + r.path("run", "munge.sock") }

func (r *Rig) slurmdbdConf() string {
	return fmt.Sprintf(`AuthType=auth/munge
AuthInfo=%s
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=%d
SlurmUser=root
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=%d
StorageUser=slurm
StoragePass=slurm
StorageLoc=slurm_acct_db
LogFile=%s
PidFile=%s
`, r.munge(), r.ports["slurmdbd"], r.ports["mariadb"], r.path("log", "slurmdbd.log"), r.path("run", "slurmdbd.pid"))
}

func (r *Rig) slurmConf() string {
	var b strings.Builder
	fmt.Fprintf(&b, `ClusterName=rig
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=%d
AuthType=auth/munge
AuthInfo=%s
SlurmUser=root
StateSaveLocation=%s
SlurmdSpoolDir=%s
SlurmctldPidFile=%s
SlurmdPidFile=%s
SlurmctldLogFile=%s
SlurmdLogFile=%s
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=100
SwitchType=switch/none
MpiDefault=none
GresTypes=gpu
SlurmdParameters=config_overrides
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=2,bf_resolution=1
PriorityType=priority/multifactor
PriorityWeightAge=1000
PriorityWeightJobSize=1000
PriorityWeightQOS=1000
JobAcctGatherType=jobacct_gather/none
KillWait=2
MaxJobCount=20000
MaxArraySize=20001
`, r.ports["slurmctld"], r.munge(), r.path("state"), r.path("run", "spool-%n"), r.path("run", "slurmctld.pid"),
		r.path("run", "slurmd-%n.pid"), r.path("log", "slurmctld.log"), r.path("log", "slurmd-%n.log"))
	if r.options.Accounting {
		fmt.Fprintf(&b, `AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=%d
AccountingStoragePass=%s
AccountingStorageTRES=%s
AccountingStorageEnforce=associations,limits,qos
AccountingStoreFlags=job_comment
`, r.ports["slurmdbd"], r.path("run", "munge.sock"), strings.Join(r.tres(), ","))
	}
	r.writeNodes(&b)
	return b.String()
}

func (r *Rig) tres() []string {
	all := []string{"gres/gpu"}
	seen := map[string]bool{"": true}
	for i := range r.options.Groups {
		if kind := r.options.Groups[i].Type; !seen[kind] {
			seen[kind] = true
			all = append(all, "gres/gpu:"+kind)
		}
	}
	return all
}

func (r *Rig) writeNodes(b *strings.Builder) {
	for i := range r.options.Groups {
		g := &r.options.Groups[i]
		cpus, memory := g.CPUs, g.Memory
		if cpus == 0 {
			cpus = 32
		}
		if memory == 0 {
			memory = 100_000
		}
		names := g.nodes()
		if g.Absent { // faster
			names = []string{fmt.Sprintf("%s[1-%d]", g.Prefix, g.Nodes)}
			r.ports[names[0]] = r.ports[g.nodes()[0]]
		}
		for _, name := range names {
			fmt.Fprintf(b, "NodeName=%s NodeHostname=localhost NodeAddr=127.0.0.1 Port=%d CPUs=%d RealMemory=%d", name, r.ports[name], cpus, memory)
			if g.GPUs > 0 {
				fmt.Fprintf(b, " Gres=%s:%d", strings.TrimSuffix("gpu:"+g.Type, ":"), g.GPUs)
			}
			b.WriteString("\n")
		}
	}
	own := false
	for _, line := range r.options.Lines {
		own = own || strings.HasPrefix(line, "PartitionName=")
		fmt.Fprintln(b, line)
	}
	if !own {
		b.WriteString("PartitionName=all Nodes=ALL Default=YES MaxTime=7-00:00:00 DefaultTime=1:00:00\n")
	}
}

func (r *Rig) gresConf() string {
	var b strings.Builder
	b.WriteString("AutoDetect=off\n")
	for i := range r.options.Groups {
		g := &r.options.Groups[i]
		if g.GPUs == 0 {
			continue
		}
		fmt.Fprintf(&b, "NodeName=%s[1-%d] Name=gpu File=%s[0-%d]", g.Prefix, g.Nodes, r.path("gpu", "gpu"), g.GPUs-1)
		if g.Type != "" {
			fmt.Fprintf(&b, " Type=%s", g.Type)
		}
		b.WriteString("\n")
	}
	return b.String()
}
