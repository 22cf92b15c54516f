-- What the first version of the schema held: see TestFirstVersion.
UPDATE state SET identity = 'THEFIRST', round = 41, time = '2026-03-01T12:01:00.000000000Z', reports = 0;
INSERT INTO jobs (number, id, token, class, spec, asked, command, dir, env, generation, status, batch, failures, ended, outcome, detail, ended_at) VALUES (
	1,
	'bert',
	'secret',
	'bert',
	'{"ID":"bert","Name":"BERT","User":"ada","Queue":"night","Class":"bert","Weight":2,"GPUs":2,"BatchSize":128,"MinGPUs":1,"MaxGPUs":4,"GPUsPerReplica":{"h200":1},"MicroBatches":3,"Equivalents":{"t4":3},"MixedSpeed":0.7,"WorkerGPUs":1,"Resizes":true,"NoCheckpoint":true,"GPUTypes":["h200","t4"],"CPUs":8.5,"Memory":8589934592,"Input":{"Working":1,"Dataset":2,"Storage":3.5},"Adaptivity":15,"Batch":{"Init":128,"Max":1024,"LocalMin":1,"LocalMax":{"h200":64}},"Schedule":{"Mode":4,"Epochs":10,"Sizes":[128,256],"Regimes":[{"BatchSize":128,"Epochs":10}]},"Goal":2,"Latency":1000000000,"Target":1000000,"RestartOverhead":25000000000,"NonPreemptive":true,"Reservation":{"Nodes":1,"GPUs":2,"GPUType":"h200"}}',
	'{"ID":"bert","Name":"BERT","User":"ada","Queue":"night","Class":"bert","Weight":2,"GPUs":2,"BatchSize":128,"MinGPUs":1,"MaxGPUs":4,"GPUsPerReplica":{"h200":1},"MicroBatches":3,"Equivalents":{"t4":3},"MixedSpeed":0.7,"WorkerGPUs":1,"Resizes":true,"NoCheckpoint":true,"GPUTypes":["h200","t4"],"CPUs":8.5,"Memory":8589934592,"Input":{"Working":1,"Dataset":2,"Storage":3.5},"Adaptivity":15,"Batch":{"Init":128,"Max":1024,"LocalMin":1,"LocalMax":{"h200":64}},"Schedule":{"Mode":4,"Epochs":10,"Sizes":[128,256],"Regimes":[{"BatchSize":128,"Epochs":10}]},"Goal":2,"Latency":1000000000,"Target":0,"RestartOverhead":25000000000,"NonPreemptive":true,"Reservation":{"Nodes":1,"GPUs":2,"GPUType":"h200"}}',
	X'707974686F6E00747261696E2E707900',
	'/home/ada',
	X'413D3100',
	3,
	'{"Phase":3,"Submitted":"2026-03-01T12:00:00Z","FirstStarted":"2026-03-01T12:00:01Z","Finished":"2026-03-01T12:00:02Z","Since":"2026-03-01T12:00:03Z","Service":60000000000,"GPUService":120000000000,"Restarts":2,"Progress":12.5,"Epoch":1,"Batch":{"Local":16,"Accumulation":2},"MaxGPUs":2,"Allocation":{"Nodes":1,"GPUs":2,"GPUType":"h200","Also":{"Nodes":1,"GPUs":3,"GPUType":"t4"},"CPUs":8.5,"Memory":8589934592},"Placement":[{"Node":"here","GPUs":2,"CPUs":8.5,"Memory":8589934592}]}',
	'{"Local":32,"Accumulation":1}',
	1,
	NULL,
	NULL,
	NULL,
	NULL);
INSERT INTO jobs (number, id, token, class, spec, asked, command, dir, env, generation, status, batch, failures, ended, outcome, detail, ended_at) VALUES (
	2,
	'old',
	'other',
	'bert',
	'{"ID":"old","Name":"","User":"","Queue":"","Class":"bert","Weight":0,"GPUs":0,"BatchSize":0,"MinGPUs":0,"MaxGPUs":0,"GPUsPerReplica":null,"MicroBatches":0,"Equivalents":null,"MixedSpeed":0,"WorkerGPUs":0,"Resizes":false,"NoCheckpoint":false,"GPUTypes":null,"CPUs":0,"Memory":0,"Input":{"Working":0,"Dataset":0,"Storage":0},"Adaptivity":0,"Batch":{"Init":0,"Max":0,"LocalMin":0,"LocalMax":null},"Schedule":{"Mode":0,"Epochs":0,"Sizes":null,"Regimes":null},"Goal":0,"Latency":0,"Target":0,"RestartOverhead":0,"NonPreemptive":false,"Reservation":{"Nodes":0,"GPUs":0,"GPUType":""}}',
	'{"ID":"old","Name":"","User":"","Queue":"","Class":"bert","Weight":0,"GPUs":0,"BatchSize":0,"MinGPUs":0,"MaxGPUs":0,"GPUsPerReplica":null,"MicroBatches":0,"Equivalents":null,"MixedSpeed":0,"WorkerGPUs":0,"Resizes":false,"NoCheckpoint":false,"GPUTypes":null,"CPUs":0,"Memory":0,"Input":{"Working":0,"Dataset":0,"Storage":0},"Adaptivity":0,"Batch":{"Init":0,"Max":0,"LocalMin":0,"LocalMax":null},"Schedule":{"Mode":0,"Epochs":0,"Sizes":null,"Regimes":null},"Goal":0,"Latency":0,"Target":0,"RestartOverhead":0,"NonPreemptive":false,"Reservation":{"Nodes":0,"GPUs":0,"GPUType":""}}',
	X'',
	'',
	X'',
	0,
	'{"Phase":5,"Submitted":"2026-03-01T12:00:00Z","FirstStarted":"0001-01-01T00:00:00Z","Finished":"2026-03-01T12:00:09Z","Since":"2026-03-01T12:00:09Z","Service":0,"GPUService":0,"Restarts":0,"Progress":0,"Epoch":0,"Batch":{"Local":0,"Accumulation":0},"MaxGPUs":0,"Allocation":{"Nodes":0,"GPUs":0,"GPUType":"","Also":{"Nodes":0,"GPUs":0,"GPUType":""},"CPUs":0,"Memory":0},"Placement":null}',
	'{"Local":0,"Accumulation":0}',
	0,
	1,
	'failed',
	'exit 1',
	'2026-03-01T12:00:09.000000000Z');
INSERT INTO slots (slot, job, rank) VALUES (
	4,
	1,
	1);
INSERT INTO slots (slot, job, rank) VALUES (
	5,
	1,
	0);
INSERT INTO reports (id, job, at, body) VALUES (
	1,
	1,
	'2026-03-01T12:01:01.000000000Z',
	'{"Job":"bert","Interval":30000000000,"Configuration":{"Nodes":1,"GPUs":2,"GPUType":"h200"},"CPUs":8,"Memory":1073741824,"Batch":{"Local":32,"Accumulation":1},"StepTime":210000000,"SyncTime":30000000,"GradSqr":0.5,"GradVar":1.5,"Progress":151000.5,"Epoch":2,"Profile":true}');
INSERT INTO checkpoints (id, job, path, body) VALUES (
	1,
	1,
	'step-1000',
	'{"Step":1000,"Progress":128000,"At":"2026-03-01T12:00:50Z","Bytes":123,"Checksum":"sha256:ab","Path":"step-1000","Seconds":0.8}');
