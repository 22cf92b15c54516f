package slurm

import "github.com/oxgang/oxgang/simulate/trace/parse"

type places struct {
	id, name, user, partition, qos, state, reason, reservation, cluster int
	submit, eligible, start, end, elapsed, elapsedRaw                   int
	limit, limitRaw, priority                                           int
	reqTRES, allocTRES, reqGRES, allocGRES, nodes                       int
}

func placesOf(r *parse.Row) places {
	at := r.Place
	return places{
		id: at("jobid"), name: at("jobname"), user: at("user"), partition: at("partition"), qos: at("qos"),
		state: at("state"), reason: at("reason"), reservation: at("reservation"), cluster: at("cluster"),
		submit: at("submit"), eligible: at("eligible"), start: at("start"), end: at("end"), elapsed: at("elapsed"), elapsedRaw: at("elapsedraw"),
		limit: at("timelimit"), limitRaw: at("timelimitraw"), priority: at("priority"),
		reqTRES: at("reqtres"), allocTRES: at("alloctres"), reqGRES: at("reqgres"), allocGRES: at("allocgres"), nodes: at("nnodes"),
	}
}
