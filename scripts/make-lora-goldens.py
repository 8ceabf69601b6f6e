"""Makes goldens of adapters: W + s B A as in PEFT for a tiny Llama, Qwen3.5 or Qwen3-MoE, in float64 PyTorch, and ten AdamW steps.

python3 scripts/make-lora-goldens.py test/fixtures/peft           # needs torch, transformers, safetensors
python3 scripts/make-lora-goldens.py test/fixtures/peft-hybrid    # a name that ends in "hybrid": Qwen3.5
python3 scripts/make-lora-goldens.py test/fixtures/peft-experts   # in "experts": Qwen3-MoE, experts and attention
"""
import sys
import torch, json, math, os
from transformers import AutoModelForCausalLM, LlamaConfig, Qwen3_5TextConfig, Qwen3MoeConfig
from safetensors.torch import save_file
out_dir = sys.argv[1]
torch.manual_seed(0); torch.set_default_dtype(torch.float64)
c=LlamaConfig(vocab_size=61,hidden_size=40,num_hidden_layers=2,num_attention_heads=4,num_key_value_heads=2,head_dim=16,intermediate_size=56,max_position_embeddings=128,tie_word_embeddings=False,rms_norm_eps=1e-5)
if out_dir.rstrip("/").endswith("hybrid"):
    c=Qwen3_5TextConfig(vocab_size=61,hidden_size=24,num_hidden_layers=2,num_attention_heads=2,num_key_value_heads=1,head_dim=8,intermediate_size=28,max_position_embeddings=128,tie_word_embeddings=True,rms_norm_eps=1e-5,linear_num_key_heads=1,linear_num_value_heads=2,linear_key_head_dim=8,linear_value_head_dim=10,linear_conv_kernel_dim=4,layer_types=["linear_attention","full_attention"])
if out_dir.rstrip("/").endswith("experts"):
    c=Qwen3MoeConfig(vocab_size=61,hidden_size=24,num_hidden_layers=2,num_attention_heads=2,num_key_value_heads=1,head_dim=8,intermediate_size=28,moe_intermediate_size=12,num_experts=5,num_experts_per_tok=2,norm_topk_prob=True,mlp_only_layers=[],decoder_sparse_step=1,max_position_embeddings=128,tie_word_embeddings=True,rms_norm_eps=1e-5)
m=AutoModelForCausalLM.from_config(c,dtype=torch.float64,experts_implementation="eager").double()
for p in m.parameters(): p.data=(p.data+0.05*torch.randn_like(p)).float().double()
m.float().save_pretrained(os.path.join(out_dir, "model")); m.double()
for p in m.parameters(): p.requires_grad_(False)
r,alpha=4,8.0; ad={}
class L(torch.nn.Module):
    def __init__(s,base,name):
        super().__init__(); s.base=base
        A=(torch.rand(r,base.in_features)*2-1)/math.sqrt(base.in_features); B=torch.randn(base.out_features,r)*0.05
        s.A=torch.nn.Parameter(A.float().double()); s.B=torch.nn.Parameter(B.float().double()); ad[name]=s
    def forward(s,x): return s.base(x)+alpha/r*((x@s.A.T)@s.B.T)
class E(torch.nn.Module):  # adapts a parameter [E, out, in]: A_e is rows e r to (e + 1) r of A; column j of B_e is column j E + e of B
    def __init__(s,shape,name):
        super().__init__(); n,o,i=shape
        A=(torch.rand(n*r,i)*2-1)/math.sqrt(i); B=torch.randn(o,n*r)*0.05
        s.n=n; s.A=torch.nn.Parameter(A.float().double()); s.B=torch.nn.Parameter(B.float().double()); ad[name]=s
    def forward(s,W): return W+alpha/r*torch.einsum("ore,eri->eoi",s.B.reshape(s.B.shape[0],r,s.n),s.A.reshape(s.n,r,-1))
for name,module in list(m.model.named_modules()):
    if not hasattr(module,"gate_up_proj") or isinstance(module.gate_up_proj,torch.nn.Module): continue
    for own,stem in (("gate_up_proj",f"model.{name}.base_layer"),("down_proj",f"model.{name}")):
        torch.nn.utils.parametrize.register_parametrization(module,own,E(getattr(module,own).shape,stem))
for name,linear in [(n,x) for n,x in m.model.named_modules() if isinstance(x,torch.nn.Linear)]:
    parent,_,own=name.rpartition("."); setattr(m.model.get_submodule(parent),own,L(linear,f"model.{name}"))
def tensors(): return {f"base_model.model.{n}.lora_{k}.weight":getattr(s,k).detach().float().contiguous() for n,s in ad.items() for k in "AB"}
os.makedirs(f"{out_dir}/adapter", exist_ok=True); save_file(tensors(), f"{out_dir}/adapter/adapter_model.safetensors")
json.dump({"peft_type":"LORA","r":r,"lora_alpha":alpha,"bias":"none","target_modules":["q_proj"]},open(f"{out_dir}/adapter/adapter_config.json", "w"))
ids=[torch.randint(0,61,(n,)) for n in (11,17,6)]
opt=torch.optim.AdamW([p for s in ad.values() for p in (s.A,s.B)],lr=1e-2,betas=(0.9,0.95),eps=1e-8,weight_decay=0.1)
out={"ids":[x.tolist() for x in ids],"loss":[],"norm":[]}
for step in range(10):
    tot=sum(len(x)-1 for x in ids)
    loss=sum(-torch.log_softmax(m(x[None]).logits[0,:-1],-1).gather(1,x[1:,None]).sum() for x in ids)/tot
    opt.zero_grad(); loss.backward()
    n=torch.nn.utils.clip_grad_norm_([p for s in ad.values() for p in (s.A,s.B)],0.5)
    if step==0: out["logprob0"]=torch.log_softmax(m(ids[0][None]).logits[0,:-1],-1).gather(1,ids[0][1:,None])[:,0].tolist()

    out["loss"].append(loss.item()); out["norm"].append(n.item()); opt.step()
out["after"]={f"{n}.lora_{k}.weight":[round(x, 8) for x in getattr(s,k).detach().flatten().tolist()] for n,s in ad.items() for k in "AB"}

json.dump(out, open(f"{out_dir}/steps.json", "w"))
