package trace

// A sample is a small input of a format; each format has at least one.
type sample struct{ format, name, text string }

const (
	siaText = "batch_size,name,time,application,num_replicas\n" +
		"2048,cifar10-0,107,cifar10,6\n" +
		"320,deepspeech2-1,110.661836,deepspeech2,8\n"
	siaCategoryText = "name,time,application,num_replicas,batch_size,category\n" +
		"a,0,cifar10,2,128,adaptive\nb,1,bert,4,48,scale-gpus\nc,2,bert,4,48,rigid\nd,3,bert,4,48,\n"
	phillyText     = "submit_s,run_s,gpus,vc\n7889,943226,8,14\n21328,1792395,4,1\n21329,10,0,1\n21330,0,1,1\n"
	lyraText       = "job_id,submit_s,run_s,gpus,gpus_per_worker,w_min,w_max,elastic,fungible,hetero,checkpoint,warm\n0,8,202,16,8,2,2,0,0,0,0,0\n1,207,6745,8,2,4,8,1,1,1,1,0\n50390,0,24304,4,2,2,2,0,0,0,0,1\n"
	phillyJSONText = `[
 {"status": "Pass", "vc": "ee9e8c", "jobid": "application_1", "user": "u1", "submitted_time": "2017-10-09 07:08:52",
  "attempts": [{"start_time": "2017-10-09 07:09:00", "end_time": "2017-10-09 08:09:00", "detail": [{"ip": "m1", "gpus": ["gpu0", "gpu1"]}, {"ip": "m2", "gpus": ["gpu0"]}]}]},
 {"status": "Killed", "vc": "6214e9", "jobid": "application_2", "user": "u\"2]", "submitted_time": "2017-10-09 07:00:00 PDT",
  "attempts": [{"start_time": "2017-10-09 07:01:00", "end_time": "2017-10-09 07:02:00", "detail": [{"ip": "m1", "gpus": ["gpu0"]}]},
               {"start_time": "2017-10-09 07:03:00", "end_time": "2017-10-09 07:03:30", "detail": [{"ip": "m1", "gpus": ["gpu0", "gpu1"]}]}]},
 {"status": "Failed", "vc": "6214e9", "jobid": "application_3", "user": "u2", "submitted_time": "2017-10-09 08:00:00", "attempts": []},
 {"status": "Failed", "vc": "6214e9", "jobid": "application_4", "user": "u2", "submitted_time": "2017-10-09 08:00:00",
  "attempts": [{"start_time": null, "end_time": "None", "detail": [{"ip": "m1", "gpus": ["gpu0"]}]}]}
]
`
	heliosText = "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n" +
		"100,u1,vc7,8,32,1,COMPLETED,2020-04-01 00:10:00,2020-04-01 00:10:02,2020-04-01 01:10:02,3600,2\n" +
		"101,u2,vc7,1,4,1,CANCELLED,2020-04-01 00:00:00,2020-04-01 00:00:00,2020-04-01 00:00:30,30,0\n" +
		"102,u2,vc7,0,4,1,COMPLETED,2020-04-01 00:00:00,2020-04-01 00:00:00,2020-04-01 00:00:30,30,0\n"
	alibabaText = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n" +
		"openb-pod-0017,88000,327680,8,1000,,Burstable,Succeeded,9437497,10769854,9437497\n" +
		"openb-pod-0022,4000,15258,1,220,V100M16|V100M32|V100M32,BE,Running,9679175,9973826,9679175.0\n" +
		"openb-pod-0023,4000,15258,0,0,,BE,Running,9679175,9973826,9679175\n" +
		"openb-pod-0024,4000,15258,1,1000,,BE,Pending,9679175,9973826,\n"
	gavel7Text = "Transformer (batch size 128)\tcd %s && python3 train.py\t-step\t1\t95121\t0.000000\t1\n" +
		"A3C\tpython3 main.py\t--max-steps\t0\t1934260\t343918.000000\t4\n"
	gavel10Text      = "ResNet-18 (batch size 32)\tpython3 main.py\tworkloads/cifar10\t--num_steps\t1\t347387\t2\t5\t-1.000000\t7\n"
	gavelCSVText     = "job_type,total_steps,scale_factor,priority_weight,slo,arrival_s\nResNet-18 (batch size 128),925982,4,1,-1,0\n"
	shockwave12Text  = "LM (batch size 10)\tpython main.py\tworkloads/lm\t--steps\t1\t134583\t2\tgns\t1\t-1.000000\t1418\t12\n"
	shockwaveCSVText = "job,job_type,total_steps,scale_factor,mode,priority_weight,slo,duration_s,arrival_s\n0,LM (batch size 10),134583,1,gns,1,-1,1418,0\n1,LM (batch size 5),10,1,static,1,-1,14,3\n"
	synergyText      = "job_id,model,arrival_s,total_iters,gpus\n0,alexnet,0.001,3349,1\n1,gnmt,126,26435,4\n"
	slurmText        = "JobID|JobName|User|Partition|Submit|Start|End|ElapsedRaw|State|ReqTRES|AllocTRES\n" +
		"7_1|train|amy|gpu|2024-01-02T03:04:05|2024-01-02T03:05:00|2024-01-02T04:05:00|3600|COMPLETED|billing=8,cpu=16,gres/gpu:a100=4,gres/gpu=4,mem=64G,node=1|\n" +
		"7_1.batch|batch||||||3600|COMPLETED||cpu=16\n" +
		"8|eval|bob|gpu|2024-01-02T03:00:00|2024-01-02T03:05:00|2024-01-02T03:06:00|60|CANCELLED by 1000|cpu=1|cpu=1,gres/gpu:h100=2,mem=512\n"
	slurmElapsedText = "JobID|Submit|Elapsed|AllocTRES\n9|2024-01-02T03:04:05|1-02:03:04|gres/gpu=1\n10|2024-01-02T03:04:05|02:30|gres/gpu=1\n"
	slurmJSONText    = `{"meta": {}, "jobs": [
{"job_id": 7, "name": "train", "user": "amy", "partition": "gpu", "time": {"submission": 1704164645, "elapsed": 3600}, "state": {"current": ["COMPLETED"]}, "tres": {"requested": [{"type": "gres", "name": "gpu:a100", "count": 4}]}},
{"job_id": 8, "time": {"submission": 1704164640, "elapsed": 60}, "state": {"current": "FAILED"}, "tres": {"allocated": [{"type": "gres", "name": "gpu", "count": 2}]}}
]}
`
	kubernetesText = `{"apiVersion": "v1", "items": [
{"kind": "Node", "metadata": {"name": "n1", "uid": "n1", "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {"nvidia.com/gpu.product": "NVIDIA-H200"}}, "status": {"allocatable": {"cpu": "96", "nvidia.com/gpu": "8"}, "conditions": [{"type": "Ready", "status": "True"}]}},
{"kind": "Job", "metadata": {"namespace": "nlp", "name": "bert", "uid": "u1", "creationTimestamp": "2026-01-02T00:00:10Z", "labels": {"oxgang.dev/queue": "q"}},
 "spec": {"parallelism": 2, "completions": 2, "template": {"spec": {"containers": [{"resources": {"requests": {"cpu": "1500m", "memory": "2Gi"}, "limits": {"nvidia.com/gpu": "4"}}}]}}},
 "status": {"startTime": "2026-01-02T00:00:10Z", "completionTime": "2026-01-02T00:01:40Z"}},
{"kind": "Pod", "metadata": {"namespace": "nlp", "name": "bert-0", "uid": "p1", "creationTimestamp": "2026-01-02T00:00:10Z", "ownerReferences": [{"kind": "Job", "uid": "u1"}]},
 "spec": {"nodeName": "n1", "containers": [{"resources": {"limits": {"nvidia.com/gpu": "4"}}}]},
 "status": {"conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-01-02T00:00:40Z"}]}},
{"kind": "Job", "metadata": {"namespace": "nlp", "name": "prep", "uid": "u2", "creationTimestamp": "2026-01-02T00:00:00Z"}, "spec": {"template": {"spec": {"containers": [{}]}}}, "status": {}}
], "kind": "List", "metadata": {"resourceVersion": ""}}
{"kind": "List", "metadata": {}, "items": [
{"kind": "JobSet", "metadata": {"namespace": "cv", "name": "vit", "uid": "u3", "creationTimestamp": "2026-01-02T00:00:00Z"},
 "spec": {"replicatedJobs": [{"replicas": 2, "template": {"spec": {"parallelism": 3, "template": {"spec": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": 2}}}]}}}}}]},
 "status": {"conditions": [{"type": "Failed", "status": "True", "lastTransitionTime": "2026-01-02T00:03:00Z"}]}},
{"kind": "Workload", "metadata": {"namespace": "cv", "name": "w", "uid": "w1", "creationTimestamp": "2026-01-02T00:00:00Z", "ownerReferences": [{"kind": "JobSet", "uid": "u3"}]},
 "spec": {}, "status": {"conditions": [{"type": "Admitted", "status": "True", "lastTransitionTime": "2026-01-02T00:02:00Z"}]}}
]}
`
	alibabaSpotText = "job_name,organization,gpu_model,cpu_request,gpu_request,worker_num,submit_time,duration,job_type\n" +
		"1,o1,A10,20,1,1,100,60,HP\n2,o2,A100,15,8,2,160,30,Spot\n3,o2,A10,8,0.5,1,170,30,HP\n"
	paiText = "j1,worker,2,Terminated,494449.0,494549.0,600.0,29.296875,100.0,V100\n" +
		"j1,ps,1,Terminated,494440.0,494549.0,600.0,10,,\n" +
		"j2,tensorflow,1,Failed,1000,1060,100.0,8,50.0,MISC\n" +
		"j3,worker,1,Running,1000,,100.0,8,100.0,T4\n"
	swfText = "; Version: 2.2\n; Computer: Linux\n; UnixStartTime: 1096588800\n; MaxNodes: 4\n; MaxProcs: 16\n" +
		"    1   10  5  100   8  -1 -1  8  3600 -1 1 7 1 -1 2 1 -1 -1\n" +
		"    2   20 -1   60  -1  -1 -1  2    -1 -1 5 -1 1 -1 -1 -1 1 30\n" +
		"    3   30  0   -1   4  -1 -1  4    -1 -1 0 8 1 -1 2 1 -1 -1\n" +
		"    4   40  0   10   4  -1 -1  4    -1 -1 3 8 1 -1 2 1 -1 -1\n"
	supercloudText = ",id_job,id_user,partition,state,timelimit,time_submit,time_eligible,time_start,time_end,tres_alloc,tres_req\n" +
		"0,4074251073298,93371910,gaia,3,4294967295,1609480000,1609480000,1609480060,1609483660,\"1=40,2=170000,4=1,1002=2\",\"1=40,2=170000,4=1,1002=2\"\n"
	jsonlText = `{"id":"a","gpus":2,"at_s":1.5,"duration_s":10,"adaptivity":["gpu_type"]}` + "\n\n" +
		`{"id":"b","gpus":1,"application":"bert","batch":{"init":12,"max":384,"local_max":{"t4":12}},"goal":"batch_inference"}` + "\n"
)

var samples = []sample{
	{"sia", "columns in any order", siaText},
	{"sia", "category", siaCategoryText},
	{"philly", "csv", phillyText},
	{"philly", "lyra", lyraText},
	{"philly", "json", phillyJSONText},
	{"helios", "log", heliosText},
	{"alibaba", "pods", alibabaText},
	{"alibaba-v2026", "jobs", alibabaSpotText},
	{"gavel", "7 columns", gavel7Text},
	{"gavel", "10 columns", gavel10Text},
	{"gavel", "csv", gavelCSVText},
	{"shockwave", "12 columns", shockwave12Text},
	{"shockwave", "csv", shockwaveCSVText},
	{"synergy", "csv", synergyText},
	{"slurm", "tres", slurmText},
	{"slurm", "elapsed", slurmElapsedText},
	{"slurm", "json", slurmJSONText},
	{"slurm", "supercloud", supercloudText},
	{"alibaba-pai", "tasks", paiText},
	{"swf", "log", swfText},
	{"jsonl", "lines", jsonlText},
	{"kubernetes", "lists", kubernetesText},
}
